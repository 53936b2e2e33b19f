import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { SnapshotId } from '../../../core/warehouse/layout.ts'
import { removableSnapshots } from '../../../core/warehouse/retention.ts'
import { getPage, rawGet, serve, walk, type Service } from '../../support/service.ts'
import { temporaryFolder, tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'
import { isQuick, sampled, testSampled, testAll } from '../../support/runs.ts'

const rows = '/api/v1/dataset/d/t/data/'
const hourMs = 3_600_000
const dayAgo = Date.now() - 24 * hourMs

const csv = (version: number): string =>
  `n,version\n${Array.from({ length: 20 + version }, (_, n) => `${n},${version}`).join('\n')}\n`

/** Publishes version after version, an hour apart, and returns the ids. */
async function published(shop: Workshop, versions: readonly number[], end = dayAgo): Promise<SnapshotId[]> {
  const ids: SnapshotId[] = []
  for (const version of versions) {
    await shop.write('d/t.csv', csv(version))
    const [outcome] = await shop.ingest({
      partRows: 8,
      now: () => new Date(end - (versions.length - 1 - versions.indexOf(version)) * hourMs),
    })
    if (outcome?.status !== 'published') throw new Error('expected a snapshot')
    ids.push(outcome.manifest.snapshot)
  }
  return ids
}

async function shopOf(versions: readonly number[]): Promise<{ shop: Workshop; ids: SnapshotId[] }> {
  const shop = await workshop(tinyCatalog({ fields: ['n:integer', 'version:integer'], order: ['n'] }))
  return { shop, ids: await published(shop, versions) }
}

const json = async (service: Service, target: string) => {
  const { status, headers, body } = await rawGet(service.app, target)
  return { status, headers, body: JSON.parse(body.toString()) as Record<string, unknown> }
}

describe('paging', () => {
  test('with a snapshot in the address stays on this snapshot through a refresh, and names it', async () => {
    const { shop, ids } = await shopOf([1])
    const service = await serve(shop)
    const first = await json(service, `${rows}?page_size=5&snapshot=current`)
    expect([first.headers['acervo-snapshot'], first.body['next']]).toEqual([
      ids[0],
      `http://localhost:8000${rows}?page=2&page_size=5&snapshot=${ids[0]}`,
    ])
    const [newer] = await published(shop, [2], dayAgo + hourMs)
    await service.snapshots.refresh()
    const rest = await walk(service.app, String(first.body['next']))
    const results = [
      ...(first.body['results'] as Record<string, unknown>[]),
      ...rest.flatMap((page) => page.results),
    ]
    expect(results).toEqual(Array.from({ length: 21 }, (_, n) => ({ n, version: 1 })))
    const plain = await json(service, `${rows}?page_size=5`)
    expect([plain.headers['acervo-snapshot'], plain.body['count'], plain.body['next']]).toEqual([
      newer,
      22,
      `http://localhost:8000${rows}?page=2&page_size=5`,
    ])
  })

  test('without a snapshot in the address moves to the new snapshot after a refresh, and clients can notice', async () => {
    const { shop } = await shopOf([1])
    const service = await serve(shop)
    const targets = [
      `${rows}?page_size=5`,
      `${rows}?page=2&page_size=5`,
      '/api/v1/dataset/d/t/export/?format=csv',
    ]
    const answers = (headers: Record<string, string>[] = []) =>
      Promise.all(targets.map((target, index) => rawGet(service.app, target, headers[index] ?? {})))
    const first = await answers()
    const conditions = first.map(({ headers }) => ({ 'If-None-Match': String(headers['etag']) }))
    expect((await answers(conditions)).map(({ status }) => status)).toEqual([304, 304, 304])
    await published(shop, [2], dayAgo + hourMs)
    await service.snapshots.refresh()
    const fresh = await answers(conditions)
    expect(fresh.map(({ status }) => status)).toEqual([200, 200, 200])
    for (const [index, { body }] of fresh.entries()) expect(body).not.toEqual(first[index]?.body)
  })

  test('with a snapshot is cached without limit, but without one is not', async () => {
    const { shop, ids } = await shopOf([1])
    const service = await serve(shop)
    const caching = async (query: string): Promise<unknown> =>
      (await rawGet(service.app, rows + query)).headers['cache-control']
    expect(await caching(`?snapshot=${ids[0]}`)).toBe('public, max-age=31536000, immutable')
    expect(await caching('?snapshot=current')).toBe('public, max-age=60, stale-while-revalidate=600')
  })

  test('continues on a server that started after the refresh', async () => {
    const { shop, ids } = await shopOf([1, 2])
    const service = await serve(shop)
    const pages = await walk(service.app, `${rows}?page_size=5&snapshot=${ids[0]}`)
    expect(pages.flatMap((page) => page.results)).toEqual(
      Array.from({ length: 21 }, (_, n) => ({ n, version: 1 })),
    )
  })

  test.each(
    sampled([
      'x',
      'CURRENT',
      '20260102T030405Z',
      '20260102T030405Z-0123456789ag',
      '../t',
      '20260102T030405Z-0123456789ab/',
    ]),
  )('with snapshot=%s is refused, and the message names the parameter', async (id) => {
    const { shop } = await shopOf([1])
    const { status, body } = await json(await serve(shop), `${rows}?snapshot=${encodeURIComponent(id)}`)
    expect([status, body['errors']]).toEqual([
      400,
      [
        {
          parameter: 'snapshot',
          message:
            'The parameter "snapshot" must be "current" or the id of a snapshot, as in Acervo-Snapshot.',
        },
      ],
    ])
  })

  test('of an expired snapshot ends with 410, which links to the current one', async () => {
    const { shop, ids } = await shopOf([1])
    const service = await serve(shop)
    const gone = '20200101T000000Z-0123456789ab'
    const { status, headers, body } = await json(service, `${rows}?page=3&page_size=5&snapshot=${gone}`)
    const newest = `http://localhost:8000${rows}?page_size=5&snapshot=${ids[0]}`
    expect([status, headers['link'], headers['cache-control'], body['type'], body['detail']]).toEqual([
      410,
      `<${newest}>; rel="latest-version"`,
      'no-store',
      'urn:acervo:problem:snapshot-gone',
      `The snapshot ${gone} of d/t is no longer kept; the current one is at ${newest}.`,
    ])
  })

  testSampled<[title: string, spoil: (folder: string) => Promise<void>]>([
    ['without its manifest', (folder) => rm(path.join(folder, 'manifest.json'))],
    ['with a part that is gone', (folder) => rm(path.join(folder, 'part-00001.parquet'))],
    ['with a part that was changed', (folder) => writeFile(path.join(folder, 'part-00001.parquet'), 'x')],
  ])('never shows a snapshot %s', async (_what, spoil) => {
    const { shop, ids } = await shopOf([1, 2])
    await spoil(path.join(shop.warehouse, 'd', 't', String(ids[0])))
    const service = await serve(shop)
    expect((await json(service, `${rows}?snapshot=${ids[0]}`)).status).toBe(410)
    expect((await getPage(service.app, rows)).count).toBe(22)
  })
})

/** Follows redirects; says whether there were any, and their first reason. */
async function followed({ app }: Service, target: string) {
  let at = target
  let answer = await rawGet(app, at)
  const reason = String(answer.headers['acervo-moved'] ?? '')
  for (let hops = 0; hops < 3 && answer.status === 302; hops += 1) {
    at = new URL(String(answer.headers['location']), `http://localhost:8000${at}`).pathname
    answer = await rawGet(app, at)
  }
  return { leads: at !== target, reason, status: answer.status, body: answer.body }
}

describe('addresses that were harvested', () => {
  const documents = [
    ...['dcat.jsonld', 'schema-org.json', 'croissant.json', 'datapackage.json', 'linkset.json'].map(
      (file) => `/metadata/d/${file}`,
    ),
    '/api/3/action/package_show?id=d',
    '/catalog.jsonld',
  ]

  /** The files that documents name. */
  async function filesIn({ app }: Service): Promise<string[]> {
    const texts = await Promise.all(
      documents.map(async (target) => (await rawGet(app, target)).body.toString()),
    )
    const links = texts.flatMap((text) => [...text.matchAll(/http:\/\/localhost:8000(\/files\/[^"#]*)/g)])
    return [...new Set(links.map(([, target = '']) => target))].filter((target) =>
      /\.(gz|parquet)$/.test(target),
    )
  }

  test('lead to the current files after their snapshots have expired', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer', 'version:integer'], order: ['n'] }))
    const publish = async (version: number): Promise<SnapshotId> => {
      await shop.write('d/t.csv', csv(version))
      const [outcome] = await shop.ingest({ now: () => new Date(dayAgo + version * hourMs) })
      if (outcome?.status !== 'published') throw new Error('expected a snapshot')
      return outcome.manifest.snapshot
    }
    const first = await publish(1)
    const service = await serve(shop, { snapshotsKept: 1, snapshotGraceMs: 0 })
    const harvested = await filesIn(service)
    expect(harvested).toEqual(expect.arrayContaining(['/files/d/t.csv.gz', '/files/d/t.parquet']))
    for (const version of [2, 3, 4]) {
      await publish(version)
      await service.snapshots.refresh()
    }
    const gone = [`/files/d/t/${first}/t.csv.gz`, `/files/d/t/${first}/part-00000.parquet`]
    for (const target of [...harvested, ...gone]) {
      const { leads, reason, status, body } = await followed(service, target)
      const isGone = reason.includes('is no longer kept')
      expect([target, leads, isGone, status]).toEqual([target, true, gone.includes(target), 200])
      const rowsOf = target.endsWith('.gz') ? gunzipSync(body).toString() : csv(4)
      expect(rowsOf).toBe(csv(4))
    }
    // Ranges of two files would be put together, and an id that never was, or is newer, has not expired.
    const whole = `/files/d/t/${first}/t.csv.gz`
    expect((await rawGet(service.app, whole, { Range: 'bytes=10-' })).status).toBe(410)
    const never = whole.replace(first, '20990101T000000Z-0123456789ab')
    expect((await rawGet(service.app, never)).status).toBe(410)
    // Rows that are asked for by a snapshot are never those of another.
    expect((await rawGet(service.app, `${rows}?snapshot=${first}`)).status).toBe(410)
  })

  testAll('of one of several parts expire with their snapshot, so that nobody mixes two', async () => {
    const { shop, ids } = await shopOf([1, 2, 3])
    const service = await serve(shop, { snapshotsKept: 1, snapshotGraceMs: 0 })
    await service.snapshots.refresh()
    const { leads, status } = await followed(service, `/files/d/t/${ids[0]}/part-00000.parquet`)
    expect([leads, status]).toEqual([false, 410])
    expect((await followed(service, '/files/d/t.parquet')).status).toBe(404)
  })

  testAll(
    'of several parts lead to the parts of the current snapshot, as long as it has the same number of parts',
    async () => {
      const { shop, ids } = await shopOf([1])
      const service = await serve(shop, { snapshotsKept: 1, snapshotGraceMs: 0 })
      const harvested = (await filesIn(service)).filter((target) => target.endsWith('.parquet'))
      expect(harvested).toEqual([0, 1, 2].map((index) => `/files/d/t-0000${index}-of-00003.parquet`))
      await published(shop, [2, 3], dayAgo + 2 * hourMs)
      await service.snapshots.refresh()
      const [newest = ''] = (await onDisk(shop)).toReversed()
      expect(newest).not.toBe(ids[0])
      for (const [index, target] of harvested.entries()) {
        const { leads, status, body } = await followed(service, target)
        const part = await readFile(path.join(shop.warehouse, 'd', 't', newest, `part-0000${index}.parquet`))
        expect([target, leads, status, body.equals(part)]).toEqual([target, true, 200, true])
      }
      await published(shop, [9], dayAgo + 3 * hourMs)
      await service.snapshots.refresh()
      for (const target of [...harvested, '/files/d/t-00004-of-00004.parquet']) {
        const { status, body } = await followed(service, target)
        expect([target, status, (JSON.parse(body.toString()) as { detail: string }).detail]).toEqual([
          target,
          404,
          'd/t has 4 Parquet files: http://localhost:8000/files/d/t/ lists them.',
        ])
      }
    },
  )
})

const idOf = (hours: number): SnapshotId =>
  `${new Date(Date.UTC(2026, 0, 1, hours)).toISOString().replaceAll(/[-:]|\.\d+Z/g, '')}Z-0123456789ab`
const at = (hours: number): Date => new Date(Date.UTC(2026, 0, 1, hours))

const onDisk = async (shop: Workshop): Promise<string[]> =>
  (await readdir(path.join(shop.warehouse, 'd', 't'))).filter((name) => name.includes('Z-')).toSorted()

test('paging continues on a server that has not loaded its snapshot yet', async () => {
  const { shop, ids } = await shopOf([1])
  const [ahead, behind] = [await serve(shop), await serve(shop)]
  const [newer] = await published(shop, [2], dayAgo + hourMs)
  await ahead.snapshots.refresh()
  const first = await json(ahead, `${rows}?page_size=5&snapshot=current`)
  expect(first.headers['acervo-snapshot']).toBe(newer)
  const rest = await walk(behind.app, String(first.body['next']))
  const versions = rest.flatMap((page) => page.results.map(({ version }) => version))
  expect(versions).toEqual(Array.from({ length: 17 }, () => 2))
  expect((await json(behind, `${rows}?snapshot=${ids[0]}`)).status).toBe(200)
  // One that never was is not looked for again and again without end.
  expect((await json(behind, `${rows}?snapshot=29991231T000000Z-0123456789ab`)).status).toBe(410)
})

const day = (number: number) => ({ now: () => new Date(Date.UTC(2026, 0, number)) })

test('the address of a dataset shows each refresh of each of its tables', async () => {
  const names = isQuick ? ['t', 'u'] : ['t', 'u', 'v']
  const shop = await workshop(
    tinyCatalog(...names.map((name) => ({ name, fields: ['n:integer', 'version:integer'] }))),
  )
  for (const name of names) await shop.write(`d/${name}.csv`, csv(1))
  await shop.ingest(day(1))
  const service = await serve(shop)
  const importDates = async (): Promise<unknown> =>
    ((await json(service, '/api/v1/dataset/d/')).body['tables'] as Record<string, unknown>[]).map((table) =>
      String(table['import_date']).slice(0, 10),
    )
  const due = names.map(() => '2026-01-01')
  expect(await importDates()).toEqual(due)
  for (const [index, name] of names.entries()) {
    await shop.write(`d/${name}.csv`, csv(2))
    await shop.ingest({ ...day(index + 2), tables: [name] })
    await service.snapshots.refresh()
    due[index] = `2026-01-0${index + 2}`
    expect(await importDates()).toEqual(due)
  }
})

describe('old snapshots', () => {
  test.each<
    [
      title: string,
      ids: number[],
      current: number,
      now: number,
      count: number,
      graceHours: number,
      gone: number[],
    ]
  >([
    ['the two newest snapshots stay', [1, 2, 3, 4], 4, 100, 2, 0, [1, 2]],
    ['more snapshots stay if the configured number is higher', [1, 2, 3, 4], 4, 100, 3, 0, [1]],
    ['no snapshot is removed within its grace period', [1, 2, 3, 4], 4, 5, 2, 24, []],
    ['the grace period of a snapshot begins with the next snapshot', [1, 2, 3, 4], 4, 26, 2, 24, [1]],
    ['a snapshot that was current for long has a grace period too', [1, 50, 51], 51, 60, 1, 24, []],
    ['a snapshot is removed at the end of its grace period', [1, 50, 51], 51, 74, 1, 24, [1]],
    ['after a rollback, the current snapshot and all newer snapshots stay', [1, 2, 3, 4], 1, 100, 2, 0, []],
    [
      'a snapshot that was rolled back does not count toward the number that stay',
      [1, 2, 3, 4, 5],
      4,
      100,
      2,
      0,
      [1, 2],
    ],
    ['one alone stays', [1], 1, 100, 2, 0, []],
    ['two stay', [1, 2], 2, 100, 2, 0, []],
    ['the order of the snapshots does not matter', [3, 1, 4, 2], 4, 100, 2, 0, [1, 2]],
  ])('%s', (_what, ids, current, now, count, graceHours, gone) => {
    const retention = { count, graceMs: graceHours * hourMs }
    const expired = removableSnapshots(
      ids.map(idOf),
      { snapshot: idOf(current), previous: null },
      at(now),
      retention,
    )
    expect(expired.toSorted()).toEqual(gone.map(idOf))
  })

  testAll('are removed by a job an hour after servers stop offering them', async () => {
    const { shop, ids } = await shopOf([1, 2, 3, 4])
    const after = async (version: number, minutes: number): Promise<string[]> => {
      await shop.write('d/t.csv', csv(version))
      const now = new Date(dayAgo + minutes * 60_000)
      await shop.ingest({ retention: { count: 2, graceMs: 0 }, now: () => now })
      return (await onDisk(shop)).slice(0, -1)
    }
    const [, , third, fourth] = ids
    // The fourth took the place of the third at 0 minutes.
    expect(await after(5, 59)).toEqual([third, fourth])
    expect(await after(6, 60)).toEqual([fourth, expect.any(String)])
  })

  test('are no longer served after their grace, but the server does not delete their files', async () => {
    const { shop, ids } = await shopOf([1, 2, 3, 4])
    const service = await serve(shop, { snapshotsKept: 2, snapshotGraceMs: 0 })
    expect((await json(service, `${rows}?snapshot=${ids[1]}`)).status).toBe(410)
    expect((await json(service, `${rows}?snapshot=${ids[2]}`)).status).toBe(200)
    expect(await onDisk(shop)).toEqual(ids)
    const walking = await serve(shop, { snapshotsKept: 2, snapshotGraceMs: 1000 * hourMs })
    expect((await json(walking, `${rows}?snapshot=${ids[0]}`)).status).toBe(200)
    await walking.snapshots.refresh()
    expect((await json(walking, `${rows}?snapshot=${ids[0]}&page=2&page_size=5`)).status).toBe(200)
  })
})

test.each(
  sampled([
    ['a part', 'part-00001.parquet'],
    ['the download', 't.csv.gz'],
    ['a row store', 'rows-00000.bin'],
    ['the report', 'report.json'],
  ]),
)('a start does not serve a snapshot if %s was damaged before', async (_what, file) => {
  const { shop, ids } = await shopOf([1, 2])
  const damaged = path.join(shop.warehouse, 'd', 't', ids[1] ?? '', file)
  const bytes = await readFile(damaged)
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] ?? 0) ^ 1
  await writeFile(damaged, bytes)
  const service = await serve(shop)
  const [status] = service.snapshots.statuses
  expect(status).toMatchObject({
    snapshot: ids[0],
    fault: expect.stringContaining(`${file} is damaged`),
  })
  const page = await json(service, rows)
  expect([page.status, page.headers['acervo-snapshot']]).toEqual([200, ids[0]])
})

test.each([
  ['another type', 'd:string', '`acervo ingest --accept-drift d/t`'],
  ['a wider type', 'd:decimal:12:2', '`acervo ingest d/t`'],
])('a table with %s than its snapshot names the command that publishes it', async (_what, field, command) => {
  const home = await temporaryFolder()
  const shop = await workshop(tinyCatalog({ fields: ['d:decimal:8:2'] }), { 'd/t.csv': 'd\n1.50\n' }, home)
  await shop.ingest()
  const changed = await workshop(tinyCatalog({ fields: [field] }), {}, home)
  const { body, status } = await rawGet((await serve(changed)).app, rows)
  expect([status, (JSON.parse(body.toString()) as { detail: string }).detail]).toEqual([
    503,
    `The table d/t cannot be served: its fields differ from the catalog: ${command} publishes it again.`,
  ])
  const [outcome] = await changed.ingest({ acceptsDrift: command.includes('--accept-drift') })
  expect(outcome?.status).toBe('published')
})
