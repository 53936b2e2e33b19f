import { linksIn, textIn } from './markup.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, importDate, workshop } from '../../support/workshop.ts'

/** Pages of what changed in a table. */

const fields = [
  { name: 'day', type: 'date', title: { en: 'Day', pt: 'Dia' } },
  { name: 'city', type: 'string', title: { en: 'City', pt: 'Município' } },
  { name: 'deaths', type: 'integer', title: { en: 'Deaths', pt: 'Óbitos' } },
]
const csvOf = (lines: readonly string[]): string => `day,city,deaths\n${lines.join('\n')}\n`
const kept = Array.from({ length: 30 }, (_, day) => `2024-01-${String(day + 1).padStart(2, '0')},Belém,1`)

let service: Service
const ids: string[] = []
beforeAll(async () => {
  const tables = [
    { name: 't', order: ['day'], key: ['day', 'city'], fields },
    { name: 'keyless', order: ['day'], fields },
    { name: 'soon', order: ['day'], fields },
    { name: 'once', order: ['n'], fields: [fieldOf('n:integer')] },
    ...['texts', 'spaces'].map((name) => ({
      name,
      order: ['n'],
      default_columns: ['n'],
      fields: ['n:integer', 'note:string'].map(fieldOf),
    })),
  ]
  const shop = await workshop(catalogAround(tables), { 'd/once.csv': 'n\n1\n' })
  const versions = [
    [...kept, '2024-03-01,Jaú,2', '2024-03-02,Jaú,7'],
    [...kept, '2024-03-01,Jaú,1303', '2024-03-03,Jaú,8'],
  ]
  for (const [index, lines] of versions.entries()) {
    const note = `${'long '.repeat(30)}${index === 0 ? 'before' : 'after'} the end`
    await shop.write('d/texts.csv', `n,note\n1,same\n2,${note}\n`)
    await shop.write('d/spaces.csv', `n,note\n1,"a${index === 0 ? '\r\n' : '\n'}b"\n`)
    for (const name of ['t', 'keyless', 'soon']) await shop.write(`d/${name}.csv`, csvOf(lines))
    const now = (): Date => new Date(importDate.getTime() + index * 60_000)
    for (const outcome of await shop.ingest({ now }))
      if (outcome.status === 'published' && outcome.table.name === 't') ids.push(outcome.manifest.snapshot)
  }
  await shop.write('d/soon.csv', csvOf(kept))
  await shop.ingest({ now: () => new Date(importDate.getTime() + 61_000) })
  service = await serve(shop)
})

async function page(path: string): Promise<{ status: number; text: string; links: readonly string[] }> {
  const { status, body } = await rawGet(service.app, path, { Accept: 'text/html' })
  const markup = body.toString()
  const main = markup.slice(markup.indexOf('<main'), markup.indexOf('</main>'))
  return { status, text: textIn(main).replaceAll(/\s+/g, ' '), links: linksIn(main) }
}

test.each([
  [
    'en',
    [
      'What the version of Jan 2, 2026, 3:05 AM UTC changed since Jan 2, 2026, 3:04 AM UTC',
      '1 row added 1 row removed 1 row changed',
      'Deaths (1)',
    ],
    ['DayCityDeaths changed Mar 1, 2024 Jaú 2 1303', 'removed Mar 2, 2024 Jaú 7', 'added Mar 3, 2024 Jaú 8'],
  ],
  [
    'pt',
    [
      'O que a versão de 2 de jan. de 2026, 03:05 UTC mudou desde 2 de jan. de 2026, 03:04 UTC',
      '1 linha nova 1 linha removida 1 linha alterada',
      'Óbitos (1)',
    ],
    [
      'DiaMunicípioÓbitos alterada 1 mar. 2024 Jaú 2 1303',
      'removida 2 mar. 2024 Jaú 7',
      'nova 3 mar. 2024 Jaú 8',
    ],
  ],
])('the page of a table says what changed, in %s', async (language, facts, rows) => {
  const { status, text, links } = await page(`/${language}/dataset/d/t/changes/`)
  expect(status).toBe(200)
  for (const fact of [...facts, ...rows]) expect(text).toContain(fact)
  const downloads = links.filter((link) => link.includes('/changes'))
  expect(downloads).toContain('http://localhost:8000/api/v1/dataset/d/t/changes/?format=csv')
  expect(downloads).toContain(`http://localhost:8000/files/d/t/${ids[1]}/changes.parquet`)
})

test('the count of each kind of change links to its rows, and each version links to its own changes', async () => {
  const { links } = await page('/en/dataset/d/t/changes/')
  const removed = links.find((link) => link.includes('_change=removed')) ?? ''
  const { text, links: chosenLinks } = await page(
    `/en/dataset/d/t/changes/${removed.replaceAll('&amp;', '&')}`,
  )
  expect([text.includes('removed Mar 2, 2024'), text.includes('changed Mar 1, 2024')]).toEqual([true, false])
  // The chosen kind is no link, and another one leads back to all.
  expect(text).toContain('1 row removed 1 row changed all changes')
  expect(chosenLinks.filter((link) => link.startsWith('?') && link.includes('_change='))).toEqual([
    expect.stringContaining('_change=added'),
    expect.stringContaining('_change=changed'),
  ])
  expect(links).toContain(`/en/dataset/d/t/changes/?to=${ids[1]}`)
})

test.each(['/en/dataset/d/t/', '/en/dataset/d/'])('%s links to the changes of the table', async (path) => {
  const { links } = await page(path)
  expect(links).toContain('/en/dataset/d/t/changes/')
})

test('a page of a chosen version names it and leads to the current one', async () => {
  for (const path of ['', 'chart/']) {
    const { text, links } = await page(`/en/dataset/d/t/${path}?snapshot=${ids[0]}&city=Ja%C3%BA`)
    expect(text).toContain('Version of Jan 2, 2026, 3:04 AM UTC. The current version')
    expect(links.find((link) => link.startsWith('?') && !link.includes('snapshot'))).toContain(
      'city=Ja%C3%BA',
    )
  }
  const { text } = await page('/en/dataset/d/t/?city=Ja%C3%BA')
  expect(text).not.toContain('The current version')
})

test('in a table without a key, a changed row is shown as one row removed and one row added', async () => {
  const { text } = await page('/en/dataset/d/keyless/changes/')
  expect(text).toContain('2 rows added 2 rows removed This table has no key')
})

const markupOf = async (name: string): Promise<string> =>
  (await rawGet(service.app, `/en/dataset/d/${name}/changes/`, { Accept: 'text/html' })).body.toString()

/** Marked texts of a page, each with its tag. */
const markedIn = (markup: string): string[] =>
  [...markup.matchAll(/<(ins|del)>(.*?)<\/\1>/gs)].map(([, tag = '', text = '']) => `${tag} ${textIn(text)}`)

test('in a table without a key, a changed row shows its differing values, with long texts cut to the difference', async () => {
  expect(markedIn(await markupOf('keyless')).toSorted()).toEqual(['del 2', 'ins 1303'])
  // The differing column is no default column.
  expect(markedIn(await markupOf('texts')).toSorted()).toEqual([
    'del …long long long long before the end',
    'ins …long long long long after the end',
  ])
})

test('two versions of a text that differ only in line breaks show the line breaks, with a note', async () => {
  const markup = await markupOf('spaces')
  expect(markedIn(markup).toSorted()).toEqual([String.raw`del a\r\nb`, String.raw`ins a\nb`])
  expect(textIn(markup)).toContain('only spaces or line breaks differ')
})

test('versions of the same minute are named with their seconds', async () => {
  const { text } = await page('/en/dataset/d/soon/changes/')
  expect(text).toMatch(
    /What the version of Jan 2, 2026, 3:05:\d\d AM UTC changed since Jan 2, 2026, 3:05:\d\d AM/,
  )
})

test('a table without an earlier version says so', async () => {
  expect((await page('/en/dataset/d/once/')).text).not.toContain('What changed')
  const { status, text } = await page('/en/dataset/d/once/changes/')
  expect([status, text]).toEqual([
    200,
    expect.stringContaining('There is no earlier version to compare with yet.'),
  ])
})

test('a request for the changes since an expired version is answered with 410', async () => {
  const { status } = await page('/en/dataset/d/t/changes/?since=20200101T000000Z-000000000000')
  expect(status).toBe(410)
})

test('the feed says how many rows changed', async () => {
  const { body } = await rawGet(service.app, '/feeds/d/t/atom.xml')
  expect(body.toString()).toContain('1 row added, 1 row removed, and 1 row changed.')
})
