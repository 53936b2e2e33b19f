import { rmSync } from 'node:fs'
import path from 'node:path'
import { startBetween, type Asked, type Between } from '../components/faulty-proxy.ts'
import { hasObjectStore, startObjectStore } from '../components/object-store.ts'
import { numbered, oneTable, rows, type OneTable } from '../support/one-table.ts'
import { startServer, type ServerProgram } from '../support/programs.ts'
import { until } from '../support/until.ts'
import { describeWith, objectStore } from '../support/needs.ts'

/**
 * A server whose object store is unavailable, slow, failing or wrong: it continues with its files, and never
 * answers with wrong data.
 */

const describeWithStore = describeWith(hasObjectStore, objectStore)

async function ask({ port }: ServerProgram, query = 'page_size=3'): Promise<[status: number, n: unknown]> {
  const answer = await fetch(`http://127.0.0.1:${port}${rows}?${query}`)
  const body = (await answer.json()) as { results?: { n: number }[]; type?: string }
  return [answer.status, body.results?.map(({ n }) => n) ?? [body.type, answer.headers.get('retry-after')]]
}

const isFileFor = ({ path: asked }: Asked): boolean => /\/(part-|codes|rows|order-|dictionary)/.test(asked)

describeWithStore('a server', () => {
  let table: OneTable
  let between: Between
  let starts = 0

  beforeAll(async () => {
    const store = await startObjectStore()
    between = await startBetween(store.endpoint)
    table = await oneTable(
      numbered(5000, 'n,s', (n) => [`text ${n}`]),
      ['n:integer', 's:string'],
      {
        settings: (folder) => ({
          ...store.environment,
          AWS_ENDPOINT_URL_S3: between.address,
          WAREHOUSE: store.address(),
          LOCAL_FOLDER: path.join(folder, 'local'),
        }),
      },
    )
  }, 60_000)

  beforeEach(() => {
    between.fate = () => ({})
    between.isCut = false
  })

  /** One that has nothing here yet, unless it is that of another start. */
  async function serve(fate: Between['fate'], number = (starts += 1)): Promise<ServerProgram> {
    between.fate = fate
    return startServer({ ...table.settings, LOCAL_FOLDER: path.join(table.folder, `served-${number}`) })
  }

  const first = [200, [0, 1, 2]]
  const elsewhere = [503, ['urn:acervo:problem:files-elsewhere', '5']]

  test('answers from local files while its object store is stopped, even after its own restart, and from all files once the store is back', async () => {
    const server = await serve(() => ({}))
    expect(await ask(server)).toEqual(first)
    between.isCut = true
    for (let times = 0; times < 5; times += 1)
      expect(await ask(server, `page_size=3&page=${times + 1}`)).toEqual([
        200,
        [0, 1, 2].map((n) => n + 3 * times),
      ])
    process.kill(server.pid, 'SIGKILL')
    const again = await serve(() => ({}), starts)
    expect(await ask(again)).toEqual(first)
    process.kill(again.pid, 'SIGKILL')
    // It knows of the table, and has none of its files.
    rmSync(path.join(table.folder, `served-${starts}`, 'server', 'd'), { recursive: true })
    const bare = await serve(() => ({}), starts)
    expect(await ask(bare)).toEqual(elsewhere)
    between.isCut = false
    await until(async () => (await ask(bare))[0] === 200)
    expect(await ask(bare)).toEqual(first)
  }, 120_000)

  test('answers although its object store takes five seconds for each file', async () => {
    const server = await serve((asked) => (isFileFor(asked) ? { delay: 5000 } : {}))
    expect(await ask(server)).toEqual(first)
  }, 120_000)

  test('fetches files that are not local from its object store for the first reader', async () => {
    const { port } = await serve(() => ({}))
    const get = async (address: string): Promise<[status: number, bytes: number]> => {
      const answer = await fetch(`http://127.0.0.1:${port}${address}`, {
        headers: { 'Accept-Encoding': 'gzip' },
      })
      return [answer.status, (await answer.arrayBuffer()).byteLength]
    }
    expect(await get('/files/d/t.csv.gz')).toEqual([200, expect.any(Number)])
    const { port: secondPort } = await serve(() => ({}))
    const exported = await fetch(`http://127.0.0.1:${secondPort}/api/v1/dataset/d/t/export/?format=csv`)
    expect([exported.status, (await exported.text()).split('\n')]).toEqual([
      200,
      expect.arrayContaining(['4999,text 4999']),
    ])
  }, 120_000)

  test('answers although its object store fails one request in three', async () => {
    const server = await serve(({ number }) => {
      if (number % 3 !== 0) return {}
      return number % 2 === 0 ? { status: 500 } : { lose: 'answer' }
    })
    await until(async () => (await ask(server))[0] === 200)
    for (let times = 0; times < 20; times += 1)
      expect((await ask(server, `page_size=100&page=${times + 1}`))[0]).toBe(200)
  }, 120_000)

  test('never serves wrong bytes that its object store returns', async () => {
    let flips = 0
    const server = await serve((asked) => {
      if (asked.method !== 'GET' || !isFileFor(asked)) return {}
      flips += 1
      return { flip: true }
    })
    for (let times = 0; times < 5; times += 1) expect(await ask(server)).toEqual(elsewhere)
    expect(flips).toBeGreaterThan(5)
    between.fate = () => ({})
    expect(await ask(server)).toEqual(first)
  }, 120_000)

  test('ignores a damaged report.json from its object store, and reads the file again', async () => {
    const { port } = await serve((asked) => (asked.path.includes('/report.json') ? { flip: true } : {}))
    const fields = async (): Promise<unknown> => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/dataset/d/t/`)
      const body = (await answer.json()) as { fields: { nulls: unknown; distinct_estimate: unknown }[] }
      return body.fields.map((field) => [field.nulls, field.distinct_estimate])
    }
    const [unknown, knownTag] = [
      [null, null],
      [0, 5000],
    ]
    expect(await fields()).toEqual([unknown, unknown])
    between.fate = () => ({})
    await until(async () => JSON.stringify(await fields()) === JSON.stringify([knownTag, knownTag]))
  }, 60_000)
})
