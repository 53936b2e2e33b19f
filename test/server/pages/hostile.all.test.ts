import { gzipSync } from 'node:zlib'
import { parseCatalog } from '../../../core/catalog/load.ts'
import { describeInBrowser, site, troubleOf, withBrowser, type Site } from '../../components/browser.ts'
import { workshop } from '../../support/workshop.ts'

/** Texts by strangers, in the data and in the catalog: a browser shows them, and does nothing that they say. */

const hostile = [
  '<script>alert(1)</script>',
  `"><img src=x onerror=alert(1)>`,
  `' onmouseover='alert(1)' autofocus onfocus='alert(1)`,
  'javascript:alert(1)',
  '</textarea></title></style><svg onload=alert(1)>',
  '\u202Eright to left\u202C and back',
  '🎉👩‍👩‍👧‍👦 \u0301\u0301\u0301 ã & &amp; &lt;b&gt; ]]> <!-- -->',
  '{{7*7}} ${7*7} <%= 7*7 %>',
  'https://example.org/"onclick="alert(1)',
  'data:text/html,<script>alert(1)</script>',
]
const joined = hostile.join(' ')
const fieldNames = ['n', 's', `<b>"x' & y`, 'javascript:alert(1)', 'day']

describeInBrowser('hostile texts:', () => {
  const browser = withBrowser()
  let at: Site
  beforeAll(async () => {
    const party = { name: joined, url: 'https://example.org/%22%3E%3Cscript%3Ealert(1)%3C/script%3E' }
    const text = { pt: joined, en: `en ${joined}` }
    const catalog = {
      title: text,
      description: text,
      limits: { rows: [], catalog: [], files: [] },
      families: { v1: { prefix: '/api/v1', scheme: 'http', trailing_slash: true } },
      datasets: [
        {
          slug: 'd',
          name: text,
          description: text,
          author: party,
          source: party,
          license: party,
          code_url: 'https://example.org/x?"><script>alert(1)</script>'.replaceAll(' ', ''),
          listed_in: ['v1'],
          collected_at: '2024-01-01',
          links: [{ title: text, url: `https://example.org/'onclick='alert(1)` }],
          tables: [
            {
              name: 't',
              description: text,
              order: ['n'],
              max_rejects: 100,
              measures: ['n'],
              fields: fieldNames.map((name) => ({
                name,
                type: name === 'n' ? 'integer' : name === 'day' ? 'date' : 'string',
                title: text,
                description: text,
                unit: text,
                ...(name === 's' && { kind: 'uf' }),
              })),
            },
          ],
        },
      ],
    }
    const lines = Array.from({ length: 120 }, (_, n) => {
      const cell = hostile[n % hostile.length] ?? ''
      const long = n === 7 ? `${cell}${'<i>x'.repeat(262_144)}` : cell
      return [n % 50 === 49 ? '<script>alert(1)</script>' : n, cell, long, cell, `2024-01-${10 + (n % 9)}`]
    })
    const csv = [fieldNames, ...lines].map((cells) =>
      cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(','),
    )
    const shop = await workshop(parseCatalog(JSON.stringify(catalog), 'c.yaml'), {
      'd/t.csv.gz': gzipSync(csv.join('\n')),
    })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'published') throw new Error('not published')
    at = await site(shop)
  }, 60_000)
  afterAll(() => at.close())

  const query = new URLSearchParams(
    hostile.slice(0, 3).map((text, index) => [['s', `<b>"x' & y__contains`, 'search'][index] ?? '', text]),
  )
  test.each([
    '/pt/',
    `/en/?q=${encodeURIComponent(hostile[0] ?? '')}`,
    '/pt/about/',
    '/en/limits/',
    '/en/dataset/d/',
    '/pt/files/d/',
    '/en/dataset/d/t/',
    '/pt/dataset/d/t/?page=3',
    `/en/dataset/d/t/?${query.toString()}`,
    `/pt/dataset/d/t/?s__in=${encodeURIComponent(
      hostile
        .slice(0, 3)
        .map((text) => `"${text.replaceAll('"', '""')}"`)
        .join(','),
    )}`,
    '/en/dataset/d/t/chart/',
    '/en/dataset/d/t/chart/?group=s',
    '/en/dataset/d/t/chart.svg?group=s',
    '/en/embed/d/t/chart/?group=s',
    '/en/embed/d/t/',
    `/pt/dataset/d/t/chart/?group=${encodeURIComponent(`<b>"x' & y`)}`,
    '/en/dataset/d/t/fields/',
    '/pt/dataset/d/t/api/',
    '/en/dataset/d/t/sql/?n__lt=5',
    '/en/dataset/d/t/row/8/',
    '/pt/dataset/%3Cscript%3Ealert(1)%3C/script%3E/',
    `/en/dataset/d/t/?${encodeURIComponent(hostile[1] ?? '')}=1`,
    '/api/v1/datasets/',
    '/api/v1/dataset/d/t/data/?page_size=6',
    '/api/v1/dataset/d/t/',
    '/files/d/',
  ])(
    '%s shows hostile texts as plain text, and runs none of them',
    async (path) => {
      const page = await browser().newPage()
      const trouble = troubleOf(page, at.base)
      const answer = await page.goto(at.base + path)
      expect(answer?.headers()['content-type']).toMatch(/^(text\/html; charset=utf-8|image\/svg\+xml)$/)
      expect((answer?.status() ?? 500) < 500).toBe(true)
      // Gives listeners for pointers and focus a chance.
      for (let step = 0; step < 12; step += 1) await page.keyboard.press('Tab')
      await page.mouse.move(300, 400)
      const odd = await page.evaluate(() => ({
        elements: [
          ...document.querySelectorAll('img, iframe, object, embed, base, style, b, i, [style]'),
        ].map(({ outerHTML }) => outerHTML.slice(0, 100)),
        handlers: [...document.querySelectorAll('*')].flatMap(({ attributes, tagName }) =>
          [...attributes]
            .filter(({ name }) => name.startsWith('on') || name === 'autofocus')
            .map(({ name }) => `${tagName} ${name}`),
        ),
        addresses: [...document.querySelectorAll('a[href]')]
          .map((link) => new URL(link.getAttribute('href') ?? '', location.href).href)
          .filter((href) => !/^https?:/.test(href)),
        // Data that is no script must be read as what it is.
        scripts: [...document.scripts].filter(
          ({ src, type, textContent }) =>
            !src.includes('/assets/') &&
            (type !== 'application/ld+json' || typeof JSON.parse(textContent) !== 'object'),
        ).length,
      }))
      await page.close()
      const errors = trouble.filter((line) => !/status of 40\d/.test(line))
      expect([errors, odd]).toEqual([[], { elements: [], handlers: [], addresses: [], scripts: 0 }])
    },
    60_000,
  )

  test('a cell of a megabyte is cut in tables, and intact in its row', async () => {
    const page = await browser().newPage()
    const cut = []
    for (const path of ['/en/dataset/d/t/', '/en/embed/d/t/', '/pt/embed/d/t/']) {
      await page.goto(at.base + path)
      cut.push(await page.evaluate(() => document.body.outerHTML.length < 150_000))
    }
    await page.goto(`${at.base}/en/dataset/d/t/row/8/`)
    const intact = await page.evaluate(() => document.body.textContent.length > 1_000_000)
    expect([cut, intact]).toEqual([[true, true, true], true])
    await page.close()
  }, 60_000)
})
