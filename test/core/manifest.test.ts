import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import fc from 'fast-check'
import { layout } from '../../core/warehouse/layout.ts'
import { manifestText, parseManifest } from '../../core/warehouse/manifest.ts'
import { rollback } from '../../ingest/rollback/rollback.ts'
import { getPage, serve } from '../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'
import { seed } from '../support/runs.ts'
import { sealed } from '../support/manifests.ts'

/** Manifests of snapshots, of this version and of others. */

let shop: Workshop
let pointer: string
let written: string
beforeAll(async () => {
  shop = await workshop(
    tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'], filters: ['s'], search: ['s'] }),
    {
      'd/t.csv': 'n,s\n1,a\n2,b\n3,c\n',
    },
  )
  await shop.ingest({ partRows: 2, codedDistinctMax: 1 })
  pointer = path.join(shop.warehouse, 'd', 't', 'current.json')
  written = await readFile(pointer, 'utf8')
})

test('a manifest is read back as it was written', () => {
  expect(manifestText(parseManifest(written, 'd/t/current.json'))).toBe(written)
  expect(sealed(JSON.parse(written) as object)).toBe(written)
})

test('keys that a later version adds anywhere in a manifest are ignored', () => {
  const manifest = JSON.parse(written) as Record<string, unknown>
  const laterKeys = fc.dictionary(fc.stringMatching(/^later_\w{1,8}$/), fc.jsonValue(), {
    minKeys: 1,
    noNullPrototype: true,
  })
  const parsed = parseManifest(written, 'd/t/current.json')
  fc.assert(
    fc.property(laterKeys, (keys) => {
      const parts = (manifest['parts'] as object[]).map((part) => ({ ...part, ...keys }))
      const fields = (manifest['fields'] as object[]).map((field) => ({ ...keys, ...field }))
      const text = sealed({ ...keys, ...manifest, parts, fields, ...keys })
      expect(parseManifest(text, 'd/t/current.json')).toEqual(parsed)
    }),
  )
})

test('a manifest of an earlier version is read without the files whose format has changed', () => {
  const manifest = JSON.parse(written) as Record<string, object>
  const {
    orders: _orders,
    row_stores: _rowStores,
    indexes: _indexes,
    ...rest
  } = parseManifest(written, 'd/t/current.json')
  const former = {
    ...manifest,
    row_stores: (manifest['row_stores'] as unknown as object[]).map((file) => ({ ...file, chunk_rows: 32 })),
    orders: [{ keys: [], positions: {} }],
    indexes: [{ kind: 'values', field: 's' }],
  }
  expect(parseManifest(sealed(former), 'd/t/current.json')).toEqual(rest)
})

test.each<[title: string, change: (manifest: Record<string, unknown>) => string]>([
  ['without its parts', ({ parts: _parts, ...keys }) => sealed(keys)],
  ['whose parts do not add up', (manifest) => sealed({ ...manifest, rows: 4 })],
  ['without its own hash', ({ manifest_sha256: _own, ...keys }) => `${JSON.stringify(keys, null, 2)}\n`],
  ['that is no JSON', () => '{'],
  ['that is no object', () => 'null\n'],
])('a manifest %s is reported as damaged, with its path in the warehouse', (_what, change) => {
  expect(() =>
    parseManifest(change(JSON.parse(written) as Record<string, unknown>), 'd/t/current.json'),
  ).toThrow('d/t/current.json is damaged or has an unknown format')
})

test('a manifest of a newer format is refused with a remedy', () => {
  const newer = sealed({ ...(JSON.parse(written) as object), format: 3 })
  expect(() => parseManifest(newer, 'd/t/current.json')).toThrow(
    'd/t/current.json has the format 3 of a newer Acervo, and this version knows formats up to 2: upgrade ' +
      'Acervo, or run `acervo rollback` of the newer version',
  )
})

test('every changed byte of a manifest is noticed', () => {
  fc.assert(
    fc.property(fc.nat(written.length - 1), fc.stringMatching(/^[ -~]$/), (at, sign) => {
      fc.pre(written[at] !== sign)
      const changed = written.slice(0, at) + sign + written.slice(at + 1)
      expect(() => parseManifest(changed, 'd/t/current.json')).toThrow('is damaged')
    }),
    { seed, numRuns: 300 },
  )
})

test('a snapshot that a later version wrote is served, and a rollback restores all keys of its manifest', async () => {
  const later = sealed({ later: { of: ['another', 'version'] }, ...(JSON.parse(written) as object) })
  const { snapshot } = parseManifest(later, 'd/t/current.json')
  for (const file of [
    pointer,
    path.join(shop.warehouse, layout.manifest({ dataset: 'd', name: 't' }, snapshot)),
  ])
    await writeFile(file, later)
  const { app, close } = await serve(shop)
  expect((await getPage(app, '/api/v1/dataset/d/t/data/?s=b')).results).toEqual([{ n: 2, s: 'b' }])
  await close()
  await shop.write('d/t.csv', 'n,s\n1,a\n2,b\n3,c\n4,d\n')
  await shop.ingest({ now: () => new Date('2027-01-01T00:00:00Z') })
  const table = shop.catalog.datasets.get('d')?.tables.get('t')
  if (table === undefined) throw new Error('no table')
  await rollback(shop.store, table, new Date('2027-01-02T00:00:00Z'))
  expect(await readFile(pointer, 'utf8')).toBe(later)
})
