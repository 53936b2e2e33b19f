import { Connection } from '../../core/duckdb/connection.ts'
import { serve, type Service } from './service.ts'
import type { Workshop } from './workshop.ts'

/** A service, and the statements that answered with rows or numbers, which are those that select. */
export async function poolOf(shop: Workshop): Promise<Service & { seen: () => string[] }> {
  const service = await serve(shop)
  const spies = [jest.spyOn(Connection.prototype, 'rows'), jest.spyOn(Connection.prototype, 'numbers')]
  return {
    ...service,
    seen: () =>
      spies
        .flatMap((spy) => spy.mock.calls.map(([sql]) => sql))
        .filter((sql) => !sql.includes('parquet_metadata')),
  }
}
