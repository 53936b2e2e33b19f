import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, importDate, workshop } from '../../support/workshop.ts'

/** Feeds of queries: an entry for each snapshot in which the answer changed. */

const versions = [
  ['Belém,1', 'Jaú,2'],
  // Only Jaú changes.
  ['Belém,1', 'Jaú,3'],
  // Belém has a row more, and the row of Jaú moves to Ita.
  ['Belém,1', 'Belém,4', 'Ita,3'],
]

let service: Service
const ids: string[] = []
beforeAll(async () => {
  const table = { name: 't', order: ['city'], fields: ['city:string', 'n:integer'].map(fieldOf) }
  const shop = await workshop(catalogAround([table]))
  for (const [index, lines] of versions.entries()) {
    await shop.write('d/t.csv', `city,n\n${lines.join('\n')}\n`)
    const [outcome] = await shop.ingest({ now: () => new Date(importDate.getTime() + index * 60_000) })
    if (outcome?.status !== 'published') throw new Error('not published')
    ids.push(outcome.manifest.snapshot)
  }
  service = await serve(shop, { snapshotsKept: 5, websubHub: 'https://hub.example.org/' })
})

const get = async (query: string, headers: Readonly<Record<string, string>> = {}) =>
  rawGet(service.app, `/feeds/d/t/atom.xml${query}`, headers)

const idsIn = (xml: string): string[] => [...xml.matchAll(/<id>(.*?)<\/id>/g)].map(([, id = '']) => id)

/** The entries of a feed: the number of the snapshot, and the first sentence. */
function entriesIn(feed: string): [snapshot: number, sentence: string][] {
  return [...feed.matchAll(/<entry>(.*?)<\/entry>/gs)].map(([, entry = '']) => [
    ids.findIndex((id) => entry.includes(`snapshot=${id}`)) + 1,
    /<title>D, t: (.*?)<\/title>/.exec(entry)?.[1] ?? '',
  ])
}

test.each<[query: string, entries: [snapshot: number, sentence: string][]]>([
  [
    '?city=Bel%C3%A9m',
    [
      [3, 'The answer changed: 2 rows; before, 1 row.'],
      [1, 'The answer has 1 row.'],
    ],
  ],
  [
    '?city=Ja%C3%BA',
    [
      [3, 'The answer changed: 0 rows; before, 1 row.'],
      [2, 'The answer changed: 1 row; before, 1 row.'],
      [1, 'The answer has 1 row.'],
    ],
  ],
  // The same values, of which one moved to another city.
  [
    '?n=3&fields=n',
    [
      [2, 'The answer changed: 1 row; before, 0 rows.'],
      [1, 'The answer has 0 rows.'],
    ],
  ],
  [
    '?group=city&measure=n__sum&lang=en',
    [
      [3, 'The answer changed: 2 groups; before, 2 groups.'],
      [2, 'The answer changed: 2 groups; before, 2 groups.'],
      [1, 'The answer has 2 groups.'],
    ],
  ],
])('the feed of %s has an entry when the answer changes', async (query, entries) => {
  const { status, body } = await get(query)
  expect([status, entriesIn(body.toString())]).toEqual([200, entries])
})

test('an entry leads to the differing rows and to the page of the query, and has an id of its own', async () => {
  const [feed, secondFeed] = await Promise.all(
    ['?city=Bel%C3%A9m', '?city=Ja%C3%BA'].map(async (query) => get(query)),
  )
  const text = feed?.body.toString() ?? ''
  expect(text).toContain(
    `href="http://localhost:8000/api/v1/dataset/d/t/changes/?city=Bel%C3%A9m&amp;since=${ids[1]}&amp;to=${ids[2]}"`,
  )
  expect(text).toContain('href="http://localhost:8000/en/dataset/d/t/?city=Bel%C3%A9m"')
  const entryIds = [...idsIn(text), ...idsIn(secondFeed?.body.toString() ?? '')]
  expect(new Set(entryIds).size).toBe(entryIds.length)
})

test('the feed of a whole table names the hub, and the feed of a query names none', async () => {
  const hub = '<link rel="hub" href="https://hub.example.org/"/>'
  const feeds = await Promise.all(['', '?city=Ita'].map(async (query) => (await get(query)).body.toString()))
  expect(feeds.map((feed) => feed.includes(hub))).toEqual([true, false])
})

test.each(['?search=', '?city=', '?fields=city,n', '?ordering=n'])(
  '%s selects all rows, so it is the feed of the table',
  async (query) => {
    const [feed, plain] = await Promise.all([query, ''].map(async (search) => get(search)))
    const due = query.startsWith('?ordering') ? 400 : 200
    expect(feed?.status).toBe(due)
    expect(due === 400 || feed?.headers['etag'] === plain?.headers['etag']).toBe(true)
    expect(due === 400 || feed?.body.equals(plain?.body ?? Buffer.alloc(0))).toBe(true)
  },
)

test('an unchanged feed is answered without reading rows', async () => {
  const first = await get('?city=Ita')
  const etag = String(first.headers['etag'])
  const { status } = await get('?city=Ita', { 'If-None-Match': etag })
  expect(status).toBe(304)
})

test('the page of a filtered table offers the feed of its query', async () => {
  const { body } = await rawGet(service.app, '/pt/dataset/d/t/?city=Jaú&ordering=-n'.replace('ú', '%C3%BA'), {
    Accept: 'text/html',
  })
  expect(body.toString()).toContain('http://localhost:8000/feeds/d/t/atom.xml?city=Ja%C3%BA&amp;lang=pt')
})

test.each([
  ['?nope=1', /no parameter "nope"/],
  ['?n=x', /"n__eq" must be/],
  ['?lang=xx&n=1', /"lang" must be one of/],
  ['?group=nope', /"nope"/],
  ['?snapshot=current&n=1', /"snapshot"/],
])('a feed of %s is refused with the reason', async (query, detail) => {
  const { status, body } = await get(query)
  const problem = JSON.parse(body.toString()) as { detail: string }
  expect([status, problem.detail]).toEqual([400, expect.stringMatching(detail)])
})
