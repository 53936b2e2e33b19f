import { Connection } from '../../../core/duckdb/connection.ts'
import { randomFrom } from '../../../bench/random.ts'
import { runsOf, seed } from '../../support/runs.ts'
import { rawGet, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, importDate, workshop } from '../../support/workshop.ts'

/** Many feeds of queries, polled through refreshes of their table. */

type Row = readonly [id: number, city: number, n: number]

const cities = 40
const rowsOf = ({ integerBetween: between }: ReturnType<typeof randomFrom>): Row[] =>
  Array.from({ length: 200 }, (_, id): Row => [id, id % cities, between(0, 9)])

/** A query of a feed, and its answer as text. */
const feedOf = (
  index: number,
): { readonly query: string; readonly answer: (rows: readonly Row[]) => string } => {
  const [city, min] = [index % cities, Math.floor(index / cities) % 10]
  return index % 5 === 0
    ? {
        query: `?city=${city}&n__gte=${min}&group=city&measure=n__sum`,
        answer: (rows) => {
          const matching = rows.filter(([, c, n]) => c === city && n >= min)
          return matching.length === 0 ? '' : String(matching.reduce((sum, [, , n]) => sum + n, 0))
        },
      }
    : {
        query: `?city=${city}&n__gte=${min}`,
        answer: (rows) => JSON.stringify(rows.filter(([, c, n]) => c === city && n >= min)),
      }
}

test('a feed has an entry for each change of its answer, and is otherwise a 304 without a query', async () => {
  const random = randomFrom(`${seed}`)
  const table = {
    name: 't',
    order: ['id'],
    key: ['id'],
    fields: ['id:integer', 'city:integer', 'n:integer'].map(fieldOf),
  }
  const shop = await workshop(catalogAround([table]))
  let versions = 0
  const publish = async (rows: readonly Row[]): Promise<string> => {
    await shop.write('d/t.csv', `id,city,n\n${rows.map((row) => row.join()).join('\n')}\n`)
    versions += 1
    const now = (): Date => new Date(importDate.getTime() + versions * 60_000)
    const [outcome] = await shop.ingest({ now })
    if (outcome?.status !== 'published') throw new Error('not published')
    return outcome.manifest.snapshot
  }
  const history: { readonly id: string; readonly rows: readonly Row[] }[] = []
  const first = rowsOf(random)
  history.push({ id: await publish(first), rows: first })
  const { app, snapshots, catalog } = await serve(shop, { snapshotsKept: 4 })
  const served = catalog.datasets.get('d')?.tables.get('t')
  if (served === undefined) throw new Error('expected the table')
  const feeds = Array.from({ length: runsOf('FEEDS') }, (_, index) => ({
    ...feedOf(index),
    etag: '',
    entries: [] as readonly string[],
  }))
  /** Entries of a feed by its answers, the latest first: of a first snapshot, and of others with another answer. */
  const dueEntries = ({ answer }: (typeof feeds)[number], retained: ReadonlySet<string>): string[] =>
    history
      .filter(({ id, rows }, index) => {
        const before = history[index - 1]
        if (!retained.has(id)) return false
        return before === undefined || (retained.has(before.id) && answer(rows) !== answer(before.rows))
      })
      .map(({ id }) => id)
      .toReversed()
  const statements = ['rows', 'columns', 'numbers'] as const
  const spies = statements.map((name) => jest.spyOn(Connection.prototype, name))
  const asked = (): number => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  const poll = async ({ query, etag }: { query: string; etag: string }) =>
    rawGet(app, `/feeds/d/t/atom.xml${query}`, etag === '' ? {} : { 'If-None-Match': etag })
  let unchanged = 0
  for (let refresh = 0; refresh <= runsOf('FEED_REFRESHES'); refresh += 1) {
    if (refresh > 0) {
      // Some rows of a few cities change.
      const changing = new Set(Array.from({ length: 4 }, () => random.integerBetween(0, cities - 1)))
      const rows = (history.at(-1)?.rows ?? []).map(([id, city, n]): Row => [
        id,
        city,
        changing.has(city) && random.chance(0.5) ? random.integerBetween(0, 9) : n,
      ])
      history.push({ id: await publish(rows), rows })
      await snapshots.refresh()
    }
    const retained = new Set(
      (await snapshots.retainedSnapshots(served)).map(({ manifest }) => manifest.snapshot),
    )
    for (const feed of feeds) {
      const due = dueEntries(feed, retained)
      const isSame = feed.etag !== '' && JSON.stringify(due) === JSON.stringify(feed.entries)
      const { status, headers, body } = await poll(feed)
      const entries = [...body.toString().matchAll(/<entry>.*?snapshot=([^<&"]*)/gs)].map(([, id]) => id)
      expect([feed.query, refresh, status, entries]).toEqual(
        isSame ? [feed.query, refresh, 304, []] : [feed.query, refresh, 200, due],
      )
      unchanged += Number(isSame)
      Object.assign(feed, { entries: due, ...(!isSame && { etag: String(headers['etag']) }) })
    }
    const before = asked()
    for (const feed of feeds) expect((await poll(feed)).status).toBe(304)
    expect(asked()).toBe(before)
  }
  expect(unchanged).toBeGreaterThan(feeds.length)
}, 1_200_000)
