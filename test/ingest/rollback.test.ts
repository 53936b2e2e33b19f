import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Catalog } from '../../core/catalog/catalog.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { type Manifest, manifestText, parseManifest } from '../../core/warehouse/manifest.ts'
import { publishedOf, snapshotsIn } from '../../core/warehouse/publish.ts'
import { recordRollback } from '../../core/warehouse/state-files.ts'
import { outcomeLines, type Outcome } from '../../ingest/job/report.ts'
import { rollback } from '../../ingest/rollback/rollback.ts'
import { sourceEndings } from '../../ingest/source/packings.ts'
import { testAll, testSampled } from '../support/runs.ts'
import { getPage, rawGet, serve, textAt } from '../support/service.ts'
import { catalogAround, fieldOf, tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'
import {
  address,
  catalog,
  csv,
  flip,
  onDay,
  publishedFiles,
  refresh,
  rowsOf,
  shopWith,
  tableOf,
} from './support/refreshes.ts'

/** Rollbacks, and the removal of old snapshots. */

describe('a rollback', () => {
  test('restores the previous snapshot at once, and keeps an ingest from publishing the withdrawn source again', async () => {
    const shop = await shopWith(csv(10), csv(11), csv(12))
    const { app, snapshots } = await serve(shop, { snapshotsKept: 10, snapshotGraceMs: 0 })
    const count = async (): Promise<number> => {
      await snapshots.refresh()
      return (await getPage(app, address)).count
    }
    expect(await count()).toBe(12)
    const { from, to, rows } = await rollback(shop.store, tableOf(shop), new Date(Date.UTC(2026, 0, 4)))
    expect([from.slice(0, 8), to.slice(0, 8), rows, await count()]).toEqual(['20260103', '20260102', 11, 11])

    const [held] = await shop.ingest(onDay(5))
    expect(outcomeLines(held as Outcome)).toEqual([
      `d/t: held back, since its source is that of the snapshot ${from}, which was rolled back; \`acervo ingest --accept-drift d/t\` publishes it again`,
    ])
    expect(await count()).toBe(11)
    await rollback(shop.store, tableOf(shop), new Date(Date.UTC(2026, 0, 6)))
    expect(await count()).toBe(10)
    for (const length of [11, 12]) {
      const again = await refresh(shop, csv(length), onDay(7))
      expect([length, again.status, await count()]).toEqual([length, 'held', 10])
    }
    await expect(rollback(shop.store, tableOf(shop), new Date())).rejects.toThrow(
      /^d\/t has no snapshot before 20260101/,
    )

    expect((await refresh(shop, csv(13), onDay(8))).status).toBe('published')
    expect(await count()).toBe(13)
    expect((await refresh(shop, csv(12), onDay(9))).status).toBe('published')
  })

  test('is an entry of the feeds until the next publication', async () => {
    const shop = await shopWith(csv(10), csv(11))
    const { app, snapshots } = await serve(shop, { snapshotsKept: 10 })
    const feeds = [
      '/feeds/atom.xml',
      '/feeds/d/atom.xml',
      '/feeds/d/t/atom.xml',
      '/feeds/d/t/atom.xml?lang=pt',
    ]
    // A follower of each feed has seen all of its earlier states.
    const seenTags = new Map<string, string[]>(feeds.map((feed) => [feed, []]))
    const newTextOf = async (feed: string): Promise<string> => {
      const tags = seenTags.get(feed) ?? []
      const { status, headers, body } = await rawGet(app, feed, {
        'If-None-Match': tags.join(', ') || '"none"',
      })
      expect([feed, status]).toEqual([feed, 200])
      tags.push(String(headers['etag']))
      return body.toString()
    }
    const rollbacksIn = async (): Promise<(readonly string[])[]> => {
      await snapshots.refresh()
      const texts = await Promise.all(feeds.map(newTextOf))
      return texts.map((text) => [
        /<updated>(.*?)</.exec(text)?.[1]?.slice(0, 10) ?? '',
        ...[...text.matchAll(/<id>urn:acervo:rollback:(.*?)<\/id><title>(.*?)<\/title>/g)].flatMap((entry) =>
          entry.slice(1),
        ),
      ])
    }
    const none = (day: string) => feeds.map(() => [day])
    expect(await rollbacksIn()).toEqual(none('2026-01-02'))
    await refresh(shop, csv(12), onDay(3))
    expect(await rollbacksIn()).toEqual(none('2026-01-03'))
    const withdrawn = await publishedOf(shop.store, tableOf(shop))
    const { from } = await rollback(shop.store, tableOf(shop), new Date(Date.UTC(2026, 0, 4)))
    const sentence =
      'The version of Jan 3, 2026, 12:00 AM UTC was withdrawn. The version of Jan 2, 2026, 12:00 AM UTC is current again.'
    const frase =
      'A versão de 3 de jan. de 2026, 00:00 UTC foi retirada. A versão de 2 de jan. de 2026, 00:00 UTC voltou a ser a atual.'
    expect(await rollbacksIn()).toEqual(
      [sentence, sentence, sentence, frase].map((text) => ['2026-01-04', `d/t:${from}`, `D, t: ${text}`]),
    )
    await refresh(shop, csv(13), onDay(5))
    expect(await rollbacksIn()).toEqual(none('2026-01-05'))
    // A job may have been killed before it removed the list of rollbacks.
    await recordRollback(shop.store, tableOf(shop), withdrawn as Manifest, new Date(Date.UTC(2026, 0, 4)))
    expect(await textAt((await serve(shop)).app, '/feeds/d/t/atom.xml')).not.toContain('urn:acervo:rollback')
  })

  test('goes past a snapshot that was removed, and so does a server whose current one is damaged', async () => {
    const shop = await shopWith(csv(10), csv(11), csv(12))
    const [newest = '', removed = ''] = await snapshotsIn(shop.store, tableOf(shop))
    const folderOf = (id: string): string =>
      path.join(shop.warehouse, layout.snapshot(tableOf(shop), id as SnapshotId))
    await rm(folderOf(removed), { recursive: true })
    const part = path.join(folderOf(newest), 'part-00000.parquet')
    const bytes = await readFile(part)
    await flip(part)
    const { app } = await serve(shop)
    expect((await getPage(app, address)).count).toBe(10)
    await writeFile(part, bytes)
    expect((await rollback(shop.store, tableOf(shop), new Date())).rows).toBe(10)
  })

  test('to a snapshot without a mask that the catalog now declares is refused', async () => {
    const shop = await shopWith(csv(10, '529.982.247-25'))
    const fields = [fieldOf('n:integer'), { ...fieldOf('s:string'), mask: 'cpf' }]
    const declared = catalogAround([{ name: 't', order: ['n'], fields }])
    const masking = await workshop(declared, {}, path.dirname(shop.warehouse))
    const [masked] = await masking.ingest(onDay(2))
    expect(masked?.status).toBe('published')
    await expect(rollback(masking.store, tableOf(masking), new Date())).rejects.toThrow(
      /^the snapshot before, 20260101\S*, was published without the mask that the catalog declares for s, or by an earlier version; nothing was changed/,
    )
    const { app } = await serve(masking)
    expect((await getPage(app, address)).results[0]).toEqual({ n: 0, s: '***982247**' })
    await refresh(masking, csv(11, '529.982.247-25'), onDay(3))
    expect((await rollback(masking.store, tableOf(masking), new Date())).rows).toBe(10)
  })

  testAll('holds the source back for every version of the converter', async () => {
    const shop = await workshop(catalog)
    for (const rows of [10, 11]) await refresh(shop, csv(rows), { ...onDay(rows), converter: 1 })
    await rollback(shop.store, tableOf(shop), new Date(Date.UTC(2026, 0, 12)))
    for (const converter of [1, 2, 3]) {
      expect((await refresh(shop, csv(11), { ...onDay(13), converter })).status).toBe('held')
      expect(await rowsOf(shop)).toBe(10)
    }
    expect((await refresh(shop, csv(10), { ...onDay(14), converter: 3 })).status).toBe('published')
  })

  test('to a damaged snapshot is refused, and changes nothing', async () => {
    const shop = await shopWith(csv(10), csv(11))
    const [, older] = await snapshotsIn(shop.store, tableOf(shop))
    const part = path.join(shop.warehouse, 'd', 't', String(older), 'part-00000.parquet')
    await flip(part)
    await expect(rollback(shop.store, tableOf(shop), new Date())).rejects.toThrow(
      'part-00000.parquet is damaged',
    )
    expect(await rowsOf(shop)).toBe(11)
  })
})

/** The same sources and warehouse as another catalog has them. */
async function under(newCatalog: Catalog, shop: Workshop): Promise<Workshop> {
  const { ingest } = await workshop(newCatalog)
  const { sources, store } = shop
  return { ...shop, catalog: newCatalog, ingest: (options) => ingest({ sources, store, ...options }) }
}

describe('a rollback across a change of the catalog', () => {
  const wide = tinyCatalog({ fields: ['n:integer', 's:text'], order: ['n'] })

  test('to other fields is refused before anything changes, with a remedy', async () => {
    const narrow = await shopWith(csv(10))
    const shop = await under(wide, narrow)
    expect((await refresh(shop, csv(11), onDay(2))).status).toBe('published')
    const files = await publishedFiles(shop)
    const pointer = await readFile(path.join(shop.warehouse, layout.pointer(tableOf(shop))))
    const [, before] = await snapshotsIn(shop.store, tableOf(shop))
    await expect(rollback(shop.store, tableOf(shop), new Date())).rejects.toThrow(
      `the snapshot before, ${before}, has other fields than the catalog now declares for d/t, so it could not be ` +
        'served; nothing was changed. Declare its fields in the catalog again (n integer, s string) and ' +
        'roll back again, or provide a correct source and run `acervo ingest`',
    )
    expect(await publishedFiles(shop)).toEqual(files)
    expect(await readFile(path.join(shop.warehouse, layout.pointer(tableOf(shop))))).toEqual(pointer)
    // With the fields of then it is one.
    expect((await rollback(shop.store, tableOf(narrow), new Date())).rows).toBe(10)
  })

  testSampled<[title: string, isSourceGone: boolean, message: (withdrawn: string) => string]>([
    [
      'a source that a rollback holds back',
      false,
      (withdrawn) =>
        'd/t: FAILED, the fields of the published snapshot differ from the catalog, so it is not served, and the ' +
        `source is that of the snapshot ${withdrawn}, which was rolled back; \`acervo ingest --accept-drift d/t\` publishes it again`,
    ],
    [
      'a source that is gone',
      true,
      () =>
        `d/t: FAILED, the source is missing: there is no SOURCES/d/t.csv (or ${sourceEndings.slice(1).join(', ')}); ` +
        'and the fields of the published snapshot differ from the catalog, so it is not served',
    ],
  ])(
    'makes an ingest of %s fail, since no snapshot can be served, until the drift is accepted',
    async (_what, isSourceGone, message) => {
      const narrow = await shopWith(csv(10))
      const shop = await under(wide, narrow)
      await refresh(shop, csv(11), onDay(2))
      const { from } = await rollback(shop.store, tableOf(narrow), new Date())
      const service = await serve(shop)
      expect(service.snapshots.statuses).toEqual([expect.objectContaining({ snapshot: null })])
      await service.close()
      if (isSourceGone) await rm(path.join(shop.sources, 'd', 't.csv'))
      const [failed] = await shop.ingest(onDay(3))
      const [line = ''] = outcomeLines(failed as Outcome)
      expect(line.replace(shop.sources, 'SOURCES')).toBe(message(from))
      const published = await refresh(shop, csv(11), { ...onDay(4), acceptsDrift: true })
      expect([published.status, await rowsOf(shop)]).toEqual(['published', 11])
    },
  )
})

testAll('a masked snapshot of a version that recorded no masks is published once more', async () => {
  const fields = [fieldOf('n:integer'), { ...fieldOf('s:string'), mask: 'cpf' }]
  const shop = await workshop(catalogAround([{ name: 't', order: ['n'], fields }]))
  await refresh(shop, csv(10, '529.982.247-25'), onDay(1))
  const pointer = path.join(shop.warehouse, layout.pointer(tableOf(shop)))
  const { masks, ...older } = parseManifest(await readFile(pointer, 'utf8'), pointer)
  expect(masks).toEqual({ s: 'cpf' })
  await writeFile(pointer, manifestText(older))
  const statuses = [await shop.ingest(onDay(2)), await shop.ingest(onDay(3))].flat()
  expect(statuses.map(({ status }) => status)).toEqual(['published', 'unchanged'])
})

describe('old snapshots', () => {
  const retention = { count: 2, graceMs: 24 * 3_600_000 }

  test('are removed by a job when they expire, except for the last two', async () => {
    const shop = await shopWith(csv(10), csv(11), csv(12), csv(13))
    await shop.ingest({ ...onDay(6), retention })
    const left = await snapshotsIn(shop.store, tableOf(shop))
    expect(left.map((id) => id.slice(6, 8))).toEqual(['04', '03'])
  })

  test('of a job that was killed before it published them are removed, but rolled-back ones stay', async () => {
    const shop = await shopWith(csv(10), csv(11))
    await rollback(shop.store, tableOf(shop), new Date())
    const home = path.join(shop.warehouse, 'd', 't')
    const [newest = ''] = await snapshotsIn(shop.store, tableOf(shop))
    await cp(path.join(home, newest), path.join(home, '20260105T000000Z-0123456789ab'), { recursive: true })
    await refresh(shop, csv(10), { ...onDay(6), retention })
    const left = await snapshotsIn(shop.store, tableOf(shop))
    expect(left.map((id) => id.slice(6, 8))).toEqual(['02', '01'])
  })
})
