import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import fc from 'fast-check'
import { hashBytes } from '../../core/warehouse/hash.ts'
import { FolderStore } from '../../core/warehouse/stores/folder.ts'
import { S3Store } from '../../core/warehouse/stores/s3.ts'
import { LockHeld } from '../../core/errors.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { rollback } from '../../ingest/rollback/rollback.ts'
import { publishViews } from '../../ingest/publish/views.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { faultOfSummed, verify } from '../../ingest/verify/verify.ts'
import { MemoryStore } from './memory-store.ts'
import { hasObjectStore, startObjectStore } from '../components/object-store.ts'
import { getPage, serve } from '../support/service.ts'
import { temporaryFolder, tinyCatalog, workshop } from '../support/workshop.ts'
import { isQuick, seed } from '../support/runs.ts'

/** Contract of every kind of store. A new kind is added here. */
const objects = hasObjectStore ? await startObjectStore() : null
Object.assign(process.env, objects?.environment)
type Kind = [kind: string, open: (folder: string) => Store]
const kinds: Kind[] = [
  ['a folder', (folder) => new FolderStore(path.join(folder, 'warehouse'))],
  ['memory', (folder) => new MemoryStore(folder)],
]
if (objects !== null)
  kinds.push([
    'an object store',
    (folder) => new S3Store(objects.address(), { folder: path.join(folder, 'local') }),
  ])

const text = async (store: Store, key: string): Promise<string | null> =>
  (await store.get(key))?.toString() ?? null

async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const part of parts) chunks.push(part)
  return Buffer.concat(chunks).toString()
}

/** A finished file or folder of this machine, in the scratch folder. */
async function finished(store: Store, files: string | Readonly<Record<string, string>>): Promise<string> {
  await mkdir(store.scratchFolder, { recursive: true })
  const home = await mkdtemp(path.join(store.scratchFolder, 'work-'))
  if (typeof files === 'string') {
    await writeFile(path.join(home, 'file'), files)
    return path.join(home, 'file')
  }
  await mkdir(path.join(home, 'folder'))
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(home, 'folder', name), content)
  return path.join(home, 'folder')
}

/** All files by their keys, with what is in them; those of the store's own begin with a dot. */
async function contentOf(store: Store, folder = ''): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  for (const name of await store.list(folder)) {
    if (name.startsWith('.')) continue
    const key = folder === '' ? name : `${folder}/${name}`
    const state = await store.stat(key)
    if (state === null) Object.assign(content, await contentOf(store, key))
    else {
      const written = (await text(store, key)) ?? 'nothing'
      content[key] = state.bytes === Buffer.byteLength(written) ? written : `${state.bytes} bytes`
    }
  }
  return content
}

describe.each(kinds)('a store in %s', (_kind, open) => {
  const fresh = async (): Promise<Store> => open(await temporaryFolder())

  test('has nothing at first, and every method says so', async () => {
    const store = await fresh()
    expect(path.isAbsolute(store.localFolder) && path.isAbsolute(store.scratchFolder)).toBe(true)
    expect([
      await store.stat('d/t/x'),
      await store.get('d/t/x'),
      await store.list('d/t'),
      await store.list(''),
    ]).toEqual([null, null, [], []])
    await store.remove('d/t/x')
    await expect(bytesOf(store.read('d/t/x'))).rejects.toThrow('d/t/x')
  })

  test('behaves like a map from names to contents', async () => {
    const key = fc.constantFrom('a', 'b', 'd/a', 'd/t/a', 'd/t/b', 'd/u/a')
    const content = fc.string({ unit: 'binary', maxLength: 200 })
    const step = fc.oneof(
      fc.record({ put: key, content }),
      fc.record({ take: key, content }),
      fc.record({
        folder: fc.constantFrom('d/t/one', 'e/u/one'),
        files: fc.dictionary(fc.constantFrom('x', 'y.z'), content, { minKeys: 1 }),
      }),
      fc.record({ remove: fc.oneof(key, fc.constantFrom('d/t', 'd', 'e/u/one')) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const store = await fresh()
        const model = new Map<string, string>()
        const left: string[] = []
        const removeBelow = (name: string): void => {
          for (const entry of model.keys())
            if (entry === name || entry.startsWith(`${name}/`)) model.delete(entry)
        }
        for (const action of steps) {
          if ('put' in action) {
            await store.put(action.put, action.content)
            model.set(action.put, action.content)
          } else if ('take' in action) {
            const from = await finished(store, action.content)
            await store.moveIn(from, action.take)
            left.push(...readdirSync(path.dirname(from)))
            model.set(action.take, action.content)
          } else if ('folder' in action) {
            // A folder is new, as a snapshot is.
            if ((await store.list(action.folder)).length > 0) continue
            await store.moveIn(await finished(store, action.files), action.folder)
            for (const [name, written] of Object.entries(action.files))
              model.set(`${action.folder}/${name}`, written)
          } else if ('remove' in action) {
            await store.remove(action.remove)
            removeBelow(action.remove)
          }
          expect([await contentOf(store), left]).toEqual([Object.fromEntries(model), []])
        }
      }),
      { seed, numRuns: isQuick ? 10 : 40 },
    )
  })

  test('shows readers either the old or the new text while it is replaced, never a mixture', async () => {
    const store = await fresh()
    const texts = ['x'.repeat(300_000), 'y'.repeat(200_000)]
    await store.put('d/t/current.json', texts[0] ?? '')
    const writing = (async () => {
      for (let turn = 0; turn < 30; turn += 1) await store.put('d/t/current.json', texts[turn % 2] ?? '')
    })()
    for (let turn = 0; turn < 100; turn += 1) expect(texts).toContain(await text(store, 'd/t/current.json'))
    await writing
  })

  test('reads the requested ranges, and gives a replaced file another version', async () => {
    const store = await fresh()
    await store.put('d/a', '0123456789')
    const before = await store.stat('d/a')
    const ranges = [
      { start: 0, end: 1 },
      { start: 3, end: 7 },
      { start: 9, end: 10 },
      { start: 0, end: 10 },
    ]
    for (const range of ranges)
      expect(await bytesOf(store.read('d/a', range))).toBe('0123456789'.slice(range.start, range.end))
    await store.put('d/a', '9876543210')
    expect((await store.stat('d/a'))?.version).not.toBe(before?.version)
    expect(await store.stat('d')).toBe(null)
  })

  test('keeps pinned files readable on this machine', async () => {
    const store = await fresh()
    await store.moveIn(
      await finished(store, { 'part-00000.parquet': 'rows', 'report.json': '{}' }),
      'd/t/one',
    )
    const key = 'd/t/one/part-00000.parquet'
    const sha256 = await hashBytes(store.read(key))
    expect(sha256).toMatch(/^[0-9a-f]{64}$/)
    const release = await store.pin([{ key, bytes: 4, sha256 }])
    expect(path.relative(store.localFolder, store.place(key))).toBe(path.join(...key.split('/')))
    expect(await readFile(store.place(key), 'utf8')).toBe('rows')
    release()
  })

  test('lets only one job at a time lock a folder, while another job may lock another folder', async () => {
    const store = await fresh()
    const release = await store.lock('d/t')
    await expect(store.lock('d/t')).rejects.toThrow(LockHeld)
    const secondRelease = await store.lock('d/u')
    await secondRelease()
    await release()
    const again = await store.lock('d/t')
    // The file of a lock is no file of the warehouse.
    expect([await contentOf(store), await store.list('d/t')]).toEqual([{}, []])
    await again()
  })

  test('supports an ingest, a server, a verification and a rollback', async () => {
    const store = await fresh()
    const catalog = tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] })
    const shop = {
      ...(await workshop(catalog, { 'd/t.csv': 'n,s\n2,b\n1,a\n' })),
      store,
      warehouse: store.localFolder,
    }
    const ingest = (day: number) =>
      shop.ingest({ store, partRows: 1, now: () => new Date(Date.UTC(2026, 0, day)) })
    const rows = async (): Promise<unknown[]> => {
      const { app, close } = await serve(shop)
      const { results } = await getPage(app, '/api/v1/dataset/d/t/data/?s__contains=a')
      await close()
      return results.map(({ n }) => n)
    }
    expect((await ingest(2)).map(({ status }) => status)).toEqual(['published'])
    expect(await rows()).toEqual([1])
    await shop.write('d/t.csv', 'n,s\n3,a\n1,a\n')
    expect((await ingest(3)).map(({ status }) => status)).toEqual(['published'])
    expect((await ingest(4)).map(({ status }) => status)).toEqual(['unchanged'])
    expect(await rows()).toEqual([1, 3])
    expect(await publishViews(store, catalog)).toEqual([])
    const table = catalog.datasets.get('d')?.tables.get('t')
    if (table === undefined) throw new Error('no table')
    expect((await rollback(store, table, new Date(Date.UTC(2026, 0, 5)))).rows).toBe(2)
    expect(await rows()).toEqual([1])
    expect((await ingest(6)).map(({ status }) => status)).toEqual(['held'])
    const faults = []
    for await (const { subject, fault } of verify(store, [table]))
      if (fault !== null) faults.push([subject, fault])
    expect([faults, await faultOfSummed(store, layout.views)]).toEqual([[], null])
  })
})

test.each([
  ['a plain folder', 'warehouse', path.resolve('warehouse')],
  ['a folder by its address', 'file:///srv/acervo', '/srv/acervo'],
])('WAREHOUSE names %s', (_what, warehouse, folder) => {
  expect(openStore(warehouse).localFolder).toBe(folder)
})

test.each(['s3://', 's3://b', 's3://UPPER/x', 's3://bucket/../x', 's3://bu cket'])(
  'a WAREHOUSE that is not the address of a bucket is refused: %s',
  (warehouse) => {
    expect(() => openStore(warehouse)).toThrow(
      `WAREHOUSE: ${warehouse} is not an address such as s3://bucket/prefix`,
    )
  },
)

test('a WAREHOUSE of an unknown kind is refused with the known kinds', () => {
  expect(() => openStore('gopher://old/hole')).toThrow(
    'WAREHOUSE: gopher:// is not supported; set a folder, or an address that starts with file://, s3://',
  )
})

test.each(['../x', 'd/../../x', '/etc/passwd', 'd//t', 'd/./t'])(
  'a key that is not a plain path within the warehouse is refused: %s',
  async (key) => {
    const store = new FolderStore(await temporaryFolder())
    await expect(store.get(key)).rejects.toThrow('is not a key of a warehouse')
  },
)
