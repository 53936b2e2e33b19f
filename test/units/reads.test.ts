import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { allTables } from '../../core/catalog/catalog.ts'
import { everyRow, readsOf, requireWhole } from '../../server/engine/reads.ts'
import type { Snapshot } from '../../server/snapshots/snapshot.ts'
import { temporaryFolder, tinyCatalog } from '../support/workshop.ts'

const names = ['a.parquet', 'b.parquet', 'c.parquet']

test.each([null, ...names])(
  'of several files that a query has read each is looked at: damaged %s',
  async (damaged) => {
    const folder = await temporaryFolder()
    for (const name of names) await writeFile(path.join(folder, name), 'whole')
    const takenOut: string[] = []
    const [table] = allTables(tinyCatalog({ fields: ['n:integer'] }))
    const footer = { start: 0, length: 0, sum: 0 }
    const snapshot = {
      folder,
      table,
      checksOf: (name: string) => ({
        bytes: name === damaged ? 6 : 5,
        footer,
        columns: new Map(),
        groups: [],
      }),
      takeOut: ({ message }: Error) => takenOut.push(message),
    } as unknown as Snapshot
    const files = names.map((file) => ({ file, isRead: everyRow }))
    const looked = requireWhole(readsOf(snapshot, files, ['n'], false)).then(
      () => 'whole',
      () => 'damaged',
    )
    await expect(looked).resolves.toBe(damaged === null ? 'whole' : 'damaged')
    expect(takenOut).toEqual(
      damaged === null ? [] : [`${damaged} is not as it was written: its size is another`],
    )
  },
)
