import { allTables } from '../../../core/catalog/catalog.ts'
import { Database } from '../../../core/duckdb/database.ts'
import { groupsSql, readGroups } from '../../../server/table/groups/duckdb-groups.ts'
import { temporaryFolder, tinyCatalog } from '../../support/workshop.ts'
import { testAll } from '../../support/runs.ts'

/** The order of more groups than DuckDB has in a row group, which it reads in several threads. */

testAll(
  'groups keep the order of their terms',
  async () => {
    const [table] = allTables(tinyCatalog({ fields: ['s:string'], order: ['s'] }))
    const database = await Database.open({
      memory: '500MB',
      threads: 2,
      scratch: await temporaryFolder(),
      folders: [],
    })
    const connection = await database.connect()
    try {
      const count = 143_000
      const rows = `(select 'k' || ((n * 77777) % ${count}) as s from range(${count}) as r(n))`
      const grouping = { terms: table?.fields ?? [], measures: [] }
      const due = Array.from({ length: count }, (_, n) => `k${n}`).toSorted()
      // In two threads, about a third of the answers would be in the wrong order.
      for (let ask = 0; ask < 12; ask += 1) {
        const answer = await connection.columns(groupsSql(grouping, { from: rows, where: 'true' }), [], {})
        const [texts = []] = readGroups(grouping, answer, new Map()).columns
        expect(texts.findIndex((text, index) => text !== due[index])).toBe(-1)
      }
    } finally {
      connection.close()
      database.close()
    }
  },
  60_000,
)
