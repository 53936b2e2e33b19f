import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Database } from '../../core/duckdb/database.ts'
import { checksOf, damageIn, type FileChecks, type Piece } from '../../core/warehouse/file-checks.ts'
import { temporaryFolder } from '../support/workshop.ts'

/** A flipped bit is found in all that a query reads of a Parquet file, and not in what it leaves alone. */

const groupRows = 2048
let file: string
let checks: FileChecks

beforeAll(async () => {
  const folder = await temporaryFolder()
  file = path.join(folder, 'rows.parquet')
  const database = await Database.open({ memory: '200MB', threads: 1, scratch: folder, folders: [folder] })
  const db = await database.connect()
  // Few texts, often repeated: what DuckDB gives a Bloom filter.
  await db.rows(`copy (select i as n, 't' || (i % 50) as s from range(${2 * groupRows}) as numbers(i))
    to '${file}' (format parquet, row_group_size ${groupRows})`)
  db.close()
  database.close()
  checks = await checksOf(file)
})

const bySpot: Readonly<Record<string, (group: FileChecks['groups'][number]) => Piece | null | undefined>> = {
  'the values of n': ({ values }) => values[0],
  'the values of s': ({ values }) => values[1],
  'the filter of s': ({ filters }) => filters[1],
}

/** Flips the middle bit of a piece while `read` looks. */
async function flippedIn<T>({ start, length }: Piece, read: () => Promise<T>): Promise<T> {
  const bytes = await readFile(file)
  const changed = Buffer.from(bytes)
  const at = start + Math.floor(length / 2)
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
  await writeFile(file, changed)
  try {
    return await read()
  } finally {
    await writeFile(file, bytes)
  }
}

const reading = (columns: readonly string[], group: number, isFiltered: boolean) => ({
  file,
  columns,
  isFiltered,
  isRead: (first: number) => first === group * groupRows,
})

test('a whole file has no damage', async () => {
  expect(checks.groups.map(({ first, end }) => [first, end])).toEqual([
    [0, groupRows],
    [groupRows, 2 * groupRows],
  ])
  await expect(damageIn(reading(['n', 's'], 0, true), checks)).resolves.toBeNull()
})

test.each<[spot: string, columns: string[], isFiltered: boolean, isFound: boolean]>([
  ['the values of n', ['n'], false, true],
  ['the values of n', ['s', 'n'], true, true],
  ['the values of n', ['s'], true, false],
  ['the values of s', ['s'], false, true],
  ['the values of s', ['n'], true, false],
  ['the filter of s', ['s'], true, true],
  ['the filter of s', ['s'], false, false],
  ['the filter of s', ['n'], true, false],
])('%s flipped, and %j read, filtered: %j', async (spot, columns, isFiltered, isFound) => {
  for (const [group, sums] of checks.groups.entries()) {
    const piece = bySpot[spot]?.(sums)
    if (piece === null || piece === undefined) throw new Error(`the file lacks ${spot}`)
    for (const read of [0, 1]) {
      const found = await flippedIn(piece, () => damageIn(reading(columns, read, isFiltered), checks))
      expect([group, read, found?.endsWith('have another sum') ?? false]).toEqual([
        group,
        read,
        isFound && group === read,
      ])
    }
  }
})

test('what says where everything is is looked at by all that read anything', async () => {
  const found = await flippedIn(checks.footer, () => damageIn(reading([], 0, false), checks))
  expect(found).toBe(`its bytes from ${checks.footer.start} on have another sum`)
})

test.each([-1, 1])('another length is found: %d bytes', async (more) => {
  const bytes = await readFile(file)
  await writeFile(file, more < 0 ? bytes.subarray(0, more) : Buffer.concat([bytes, Buffer.alloc(more)]))
  const found = await damageIn(reading(['n'], 0, false), checks)
  await writeFile(file, bytes)
  expect(found).toBe('its size is another')
})
