import { mkdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { run, startServer } from './support/programs.ts'
import { isQuick } from './support/runs.ts'
import { catalogText, fieldOf, temporaryFolder } from './support/workshop.ts'

const table = (name: string, more: object = {}): object => ({
  name,
  order: ['n asc'],
  fields: ['n:integer', 'city:string'].map(fieldOf),
  ...more,
})

/** A catalog, and a warehouse in which its tables are published. */
async function home(...tables: readonly object[]) {
  const folder = await temporaryFolder()
  const settings = {
    CATALOG: path.join(folder, 'catalog.yaml'),
    SOURCES: path.join(folder, 'sources'),
    WAREHOUSE: path.join(folder, 'warehouse'),
  }
  await mkdir(path.join(settings.SOURCES, 'd'), { recursive: true })
  for (const name of ['a', 'b'])
    await writeFile(path.join(settings.SOURCES, 'd', `${name}.csv`), 'n,city\n1,Rio\n2,Salvador\n')
  const write = async (text: string): Promise<void> => {
    await writeFile(`${settings.CATALOG}.next`, text)
    await rename(`${settings.CATALOG}.next`, settings.CATALOG)
  }
  await write(catalogText(tables))
  return { settings, write }
}

const statusOf = async (port: number, address: string): Promise<number> =>
  (await fetch(`http://localhost:${port}${address}`)).status

const data = (name: string, query = ''): string => `/api/v1/dataset/d/${name}/data/${query}`

const readerCount = isQuick ? 20 : 100

test('a changed catalog serves without a restart, and no request of many readers fails for it', async () => {
  const { settings, write } = await home(table('a'), table('b'))
  await run('ingest/main', [], settings)
  await write(catalogText([table('a')]))
  const server = await startServer({ ...settings, CATALOG_POLL_SECONDS: '1' })
  const { port } = server
  expect(await statusOf(port, data('b'))).toBe(404)
  const readers = new AbortController()
  let asked = 0
  const failed: unknown[] = []
  const reading = Array.from({ length: readerCount }, async (_, reader) => {
    for (let ask = 0; !readers.signal.aborted; ask += 1) {
      const query = ask % 3 === 0 ? '' : `?city__contains=r${reader}${ask}`
      const status = await statusOf(port, data('a', query)).catch((error: unknown) => error)
      asked += 1
      if (status !== 200) failed.push(status)
      await wait(20)
    }
  })
  const catalogs = [
    ...(isQuick ? [] : [[table('a'), table('b')], [table('a', { description: 'A' })]]),
    [table('b'), table('a')],
  ]
  for (const tables of catalogs) {
    const taken = server.log().split('another catalog serves').length
    await write(catalogText(tables))
    for (
      let tries = 0;
      tries < 200 && server.log().split('another catalog serves').length === taken;
      tries += 1
    )
      await wait(50)
  }
  readers.abort()
  await Promise.all(reading)
  expect(failed).toEqual([])
  expect(asked).toBeGreaterThan(3 * readerCount)
  expect(server.log().split('another catalog serves')).toHaveLength(1 + catalogs.length)
  expect(await statusOf(port, data('b'))).toBe(200)
  process.kill(server.pid, 'SIGTERM')
  await expect(server.ended).resolves.toMatchObject({ code: 0 })
}, 60_000)
