import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** Rooms from the ground up; a room may import itself and those of a lower floor. */
const floors: readonly (readonly string[])[] = [
  ['core/errors.ts', 'core/in-order.ts', 'core/text.ts', 'core/sql.ts', 'core/time-in-zone.ts'],
  ['core/folding.ts'],
  ['core/catalog', 'core/duckdb', 'core/settings'],
  ['core/warehouse'],
  ['core/clickhouse'],
  ['ingest/base'],
  ['ingest/init', 'ingest/source'],
  ['ingest/dialect', 'ingest/sample', 'ingest/convert/conversion.ts'],
  ['ingest/convert/parquet.ts', 'ingest/convert/proof.ts'],
  ['ingest/convert/cast', 'ingest/convert/expectations.ts', 'ingest/convert/profile'],
  ['ingest/convert/parts'],
  ['ingest/convert/indexes'],
  ['ingest/publish', 'ingest/suggest'],
  ['ingest/add', 'ingest/job', 'ingest/rollback', 'ingest/verify'],
  ['ingest/run'],
  ['ingest/check'],
  ['ingest/main.ts'],
  ['server/base'],
  ['server/query', 'server/limits'],
  ['server/formats', 'server/snapshots', 'server/http'],
  ['server/table'],
  ['server/documents'],
  ['server/routes'],
  ['server/pages'],
  ['server/process'],
]

/** The one room that may import a package. */
const owners: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/client-s3': ['core/warehouse/stores/s3.ts'],
  '@clickhouse/client': ['core/clickhouse'],
  '@duckdb/node-api': ['core/duckdb'],
  'iconv-lite': ['ingest/source/decode.ts'],
  n3: ['server/documents/rdf.ts'],
  'ipaddr.js': ['ingest/source/public-address.ts', 'server/http/client.ts'],
  'range-parser': ['server/http/range.ts'],
  send: ['server/http/files.ts'],
  undici: ['ingest/source/fetch.ts'],
  yauzl: ['ingest/source/zip.ts'],
  'markdown-it': ['server/pages/about.ts'],
  yazl: ['server/formats/workbook.ts'],
  yaml: ['core/catalog/document.ts', 'core/catalog/add-table.ts'],
  zod: [
    'core/catalog',
    'core/warehouse/manifest.ts',
    'core/warehouse/state-files.ts',
    'core/warehouse/report.ts',
  ],
  commander: ['ingest/main.ts'],
  'fastest-levenshtein': ['core/text.ts'],
  express: ['server/process/app.ts', 'server/http', 'server/routes', 'server/pages'],
  helmet: ['server/http/headers.ts'],
  'express-rate-limit': ['server/http/client.ts', 'server/limits', 'server/process/workers/counts.ts'],
  '@redis/client': ['server/limits/redis-link.ts'],
  'rate-limit-redis': ['server/limits'],
  'lru-cache': [
    'server/base/cache.ts',
    'server/base/open-files.ts',
    'server/http/client.ts',
    'server/limits/limiter.ts',
    'server/table/representations/finished-exports.ts',
  ],
  'prom-client': ['server/process/metrics', 'server/process/workers/metrics.ts', 'ingest/run/metrics.ts'],
  'proxy-addr': ['server/http/client.ts'],
  'apache-arrow': ['server/formats/arrow-writer.ts'],
  negotiator: ['server/http/negotiation.ts', 'server/http/negotiation.ts', 'server/documents/words/all.ts'],
  pino: ['server/base/log.ts'],
  'pino-pretty': ['server/base/log.ts'],
}

const imports = new Map<string, string[]>()

beforeAll(async () => {
  for (const folder of ['core', 'server', 'ingest']) {
    for (const name of await readdir(folder, { recursive: true })) {
      const file = path.posix.join(folder, name.replaceAll('\\', '/'))
      if (!file.endsWith('.ts')) continue
      const text = await readFile(file, 'utf8')
      const targets = [...text.matchAll(/(?:from |import |import\()'([^']+)'/g)].map(
        (match) => match[1] ?? '',
      )
      imports.set(
        file,
        targets.map((target) =>
          target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : target,
        ),
      )
    }
  }
})

const roomOf = (file: string): string =>
  floors.flat().find((room) => file === room || file.startsWith(`${room}/`)) ?? 'none'
const floorOf = (file: string): number => floors.findIndex((rooms) => rooms.includes(roomOf(file)))
const isOfHttp = (target: string): boolean =>
  target.startsWith('server/http/') || ['node:http', 'node:https', 'express'].includes(target)
const isOurs = (target: string): boolean => target.endsWith('.ts')

function pairs(): [string, string][] {
  return [...imports].flatMap(([file, targets]) => targets.map((target): [string, string] => [file, target]))
}

test('the import rules find the source files and their imports', () => {
  expect(imports.size).toBeGreaterThan(40)
  expect(pairs().length).toBeGreaterThan(150)
})

test('every file belongs to a layer whose imports are checked', () => {
  expect([...imports.keys()].filter((file) => roomOf(file) === 'none')).toEqual([])
})

test('a file imports only from its own area and from lower layers', () => {
  const wrong = pairs().filter(([file, target]) => {
    if (!isOurs(target) || roomOf(file) === roomOf(target)) return false
    const serverMeetsIngest =
      file.startsWith('ingest/') !== target.startsWith('ingest/') && !target.startsWith('core/')
    return floorOf(target) >= floorOf(file) || serverMeetsIngest
  })
  expect(wrong).toEqual([])
})

const folderOf = (file: string): string => file.split('/').slice(0, 2).join('/')

test('the server has eleven folders and at most forty import dependencies between them, none of them mutual', () => {
  const serverArrows = pairs().filter(
    ([file, target]) => file.startsWith('server/') && target.startsWith('server/'),
  )
  const arrows = new Set(
    serverArrows.flatMap(([file, target]) =>
      folderOf(file) === folderOf(target) ? [] : [`${folderOf(file)} ${folderOf(target)}`],
    ),
  )
  const rooms = new Set([...imports.keys()].filter((file) => file.startsWith('server/')).map(folderOf))
  expect([...rooms].filter((name) => name.endsWith('.ts'))).toEqual([])
  expect(rooms.size).toBe(11)
  expect(arrows.size).toBeLessThanOrEqual(40)
  expect([...arrows].filter((arrow) => arrows.has(arrow.split(' ').toReversed().join(' ')))).toEqual([])
})

/** Files of the folders of a conversion that others may import. */
const doors: Readonly<Record<string, readonly string[]>> = {
  cast: ['intake.ts', 'trial.ts'],
  parts: ['parts.ts', 'partitions.ts', 'reused-partitions.ts'],
  profile: ['profile.ts'],
  indexes: ['indexes.ts'],
}

test('the folders of ingest/convert are imported only through their entry files', () => {
  const wrong = pairs().filter(([file, target]) => {
    const [, folder = '', name = ''] = /^ingest\/convert\/(\w+)\/(.+)$/.exec(target) ?? []
    if (folder === '' || file.startsWith(`ingest/convert/${folder}/`)) return false
    return doors[folder]?.includes(name) !== true
  })
  expect(wrong).toEqual([])
})

test('only the outer folders of the server import HTTP modules', () => {
  const edge = [
    'server/http/',
    'server/limits/',
    'server/documents/',
    'server/pages/',
    'server/routes/',
    'server/process/',
  ]
  const wrong = pairs().filter(
    ([file, target]) =>
      file.startsWith('server/') && !edge.some((room) => file.startsWith(room)) && isOfHttp(target),
  )
  expect(wrong).toEqual([])
})

test('only stores know where a warehouse is stored', () => {
  const kinds = pairs().filter(
    ([file, target]) =>
      /^core\/warehouse\/stores\/(?!store|open)/.test(target) && !file.startsWith('core/warehouse/stores/'),
  )
  expect(kinds).toEqual([])
  // The files of this machine that are looked at, and folders that are not in the warehouse yet.
  const disk = pairs()
    .filter(([file]) => !file.startsWith('core/warehouse/stores/'))
    .filter(([file, target]) => file.startsWith('core/warehouse/') && target.startsWith('node:fs'))
  expect(new Set(disk.map(([file]) => file))).toEqual(
    new Set(
      ['fingerprint.ts', 'hash-inline.ts', 'hash.ts', 'publish.ts', 'read-exactly.ts', 'views.ts'].map(
        (file) => `core/warehouse/${file}`,
      ),
    ),
  )
})

test('there is no cycle of imports', () => {
  const visited = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) cycles.push([...trail, file].join(' -> '))
    if (visited.has(file)) return
    visited.add(file)
    for (const target of imports.get(file) ?? []) if (isOurs(target)) visit(target, [...trail, file])
  }
  for (const file of imports.keys()) visit(file, [])
  expect(cycles).toEqual([])
})

test('no file only re-exports others or collects unrelated helpers', () => {
  expect([...imports.keys()].filter((file) => /(^|\/)(index|utils?|helpers?)(\.ts|\/)/.test(file))).toEqual(
    [],
  )
})

test('each npm package is imported only by the files and folders that own it', () => {
  const wrong = pairs().filter(([file, target]) => {
    if (isOurs(target) || target.startsWith('node:')) return false
    return !(owners[target] ?? []).some((room) => file === room || file.startsWith(`${room}/`))
  })
  expect(wrong).toEqual([])
})

/** Names that a file imports, each after the name of its file; `*` if it may use any of them. */
function importedNames(text: string): string[] {
  const lists = [
    ...text.matchAll(/(?:import|export) (?:type )?(\{[^}]*\}|\* as \w+) from '[^']*\/([\w.-]+)'/g),
    ...text.matchAll(/()\bimport\('[^']*\/([\w.-]+)'\)/g),
  ]
  return lists.flatMap(([, list = '', file = '']) =>
    list.startsWith('{')
      ? [...list.matchAll(/(\w+)(?: as \w+)?(?=[,\s}])/g)].map(([, name = '']) => `${file} ${name}`)
      : [`${file} *`],
  )
}

test('a name is exported only if another file uses it', async () => {
  const texts = new Map<string, string>()
  for (const folder of ['core', 'server', 'ingest', 'test', 'bench', 'deploy'])
    for (const name of await readdir(folder, { recursive: true }))
      if (name.endsWith('.ts'))
        texts.set(path.posix.join(folder, name), await readFile(path.join(folder, name), 'utf8'))
  const used = new Set([...texts.values()].flatMap(importedNames))
  const unused = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm)].flatMap(
      ([, name = '']) =>
        [name, '*'].some((exportedName) => used.has(`${path.basename(file)} ${exportedName}`))
          ? []
          : [`${file} ${name}`],
    ),
  )
  expect(unused.filter((name) => !/^(test|bench|deploy)\//.test(name))).toEqual([])
})
