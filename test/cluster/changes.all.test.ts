import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { startClickHouse } from '../components/clickhouse.ts'
import { hasClickHouse } from '../components/clickhouse-process.ts'
import { clickHouse, describeWith, objectStore } from '../support/needs.ts'
import { hasObjectStore, startObjectStore } from '../components/object-store.ts'
import { numbered, oneTable } from '../support/one-table.ts'

/** Files of changes with an object store and with ClickHouse, compared with those of a local ingest. */

const ofVersion = (version: number): string =>
  numbered(3000, 'n,s,amount', (n) => [`text ${n}`, n % 100 === version ? `${n}.50` : `${n}.00`])

/** Publishes two versions of a table, and returns the bytes of its file of changes. */
async function changesOf(
  settings: (folder: string) => Record<string, string>,
  folderOf: (warehouse: string) => string = (warehouse) => warehouse,
  engine?: 'clickhouse',
): Promise<Buffer> {
  const table = await oneTable(ofVersion(1), ['n:integer', 's:string', 'amount:decimal:9:2'], {
    table: { key: ['n'], ...(engine !== undefined && { engine }) },
    settings,
  })
  await table.publish(ofVersion(2))
  const folder = folderOf(table.settings['WAREHOUSE'] ?? '')
  const [file = '', ...others] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('changes.parquet'),
  )
  expect(others).toEqual([])
  return readFileSync(path.join(folder, file))
}

let local: Buffer
beforeAll(async () => {
  local = await changesOf(() => ({}))
})

describeWith(hasObjectStore, objectStore)('a table in an object store', () => {
  test('has a file of changes with the same bytes as after a local ingest', async () => {
    const store = await startObjectStore()
    const settings = (folder: string): Record<string, string> => ({
      ...store.environment,
      WAREHOUSE: store.address(),
      LOCAL_FOLDER: path.join(folder, 'local'),
    })
    expect((await changesOf(settings, store.folderOf)).equals(local)).toBe(true)
  })
})

describeWith(hasClickHouse, clickHouse)('a table in ClickHouse', () => {
  test('has a file of changes with the same bytes as after a local ingest', async () => {
    const { address } = await startClickHouse()
    const changes = await changesOf(() => ({ CLICKHOUSE_URL: address }), undefined, 'clickhouse')
    expect(changes.equals(local)).toBe(true)
  })
})
