import { allTables } from '../../core/catalog/catalog.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { Database } from '../../core/duckdb/database.ts'
import { distinctOf, factsIn, registersOf } from '../../ingest/convert/facts.ts'
import { randomFrom } from '../support/random-queries.ts'
import { seed } from '../support/runs.ts'
import { temporaryFolder, tinyCatalog } from '../support/workshop.ts'

/** What is put together of parts is what DuckDB says of the whole. */

let database: Database
let db: Connection
beforeAll(async () => {
  const folder = await temporaryFolder()
  database = await Database.open({ memory: '200MB', threads: 1, scratch: folder, folders: [folder] })
  db = await database.connect()
})
afterAll(() => {
  db.close()
  database.close()
})
const [table] = allTables(tinyCatalog({ fields: ['v:string'] }))

test.each([0, 1, 2, 17, 64, 100, 200, 1000, 30_000, 1_000_000])(
  'about how many of %d different values there are, as DuckDB estimates it',
  async (different) => {
    const random = randomFrom(seed)
    const start = Math.floor(random() * 1e9)
    const from = `(select 'value ' || hash(i) as v, i % 3 as part from range(${start}, ${start + different}) as numbers(i))`
    const columns = (table?.fields ?? []).map((field) => ({ field, column: 'v', weight: null }))
    const facts = [...(await factsIn(db, from, columns, 'part::varchar')).values()].flat()
    const [[due] = []] = await db.rows(`select approx_count_distinct(v) from ${from}`)
    expect(distinctOf(registersOf(facts))).toBe(Number(due))
    expect(facts.reduce((sum, { filled }) => sum + filled, 0)).toBe(different)
  },
)
