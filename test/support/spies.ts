import { Connection } from '../../core/duckdb/connection.ts'
import { serve, type Service } from './service.ts'
import type { Workshop } from './workshop.ts'

/** Starts a service, and records the statements that returned rows or numbers, which are the selections. */
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
