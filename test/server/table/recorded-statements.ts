import { Connection } from '../../../core/duckdb/connection.ts'
import { serve, type Service } from '../../support/service.ts'
import type { Workshop } from '../../support/workshop.ts'

/** Starts a service, and records the statements that returned rows or numbers, which are the selections. */
export async function recordStatements(shop: Workshop): Promise<Service & { statements: () => string[] }> {
  const service = await serve(shop)
  const spies = [jest.spyOn(Connection.prototype, 'rows'), jest.spyOn(Connection.prototype, 'numbers')]
  return {
    ...service,
    statements: () =>
      spies
        .flatMap((spy) => spy.mock.calls.map(([sql]) => sql))
        .filter((sql) => !sql.includes('parquet_metadata')),
  }
}
