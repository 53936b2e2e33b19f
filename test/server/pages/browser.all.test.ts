import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { allTables, tableId } from '../../../core/catalog/catalog.ts'
import { languages } from '../../../core/catalog/names.ts'
import { describeInBrowser, site, troubleOf, withBrowser, type Site } from '../../components/browser.ts'
import { isExhaustive, seed } from '../../support/runs.ts'
import { endWithFile } from '../../support/each-file.ts'
import { catalogAround, workshop } from '../../support/workshop.ts'
import { unescaped } from './markup.ts'
import { publishSamples } from '../../support/samples.ts'

/** Behaviour of pages in a real browser. */

describeInBrowser('in a browser,', () => {
  const browser = withBrowser()
  let at: Site
  let axe: string
  beforeAll(async () => {
    const shop = await publishSamples(({ dataset }) => dataset === 'covid19')
    at = await site(shop)
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  }, 60_000)
  afterAll(() => at.close())

  const kinds: readonly (readonly [kind: string, path: string])[] = [
    ['home', '/'],
    ['a search', '/?q=state'],
    ['a search for nothing', '/?q=xyzzy'],
    ['about', '/about/'],
    ['limits', '/limits/'],
    ['a dataset', '/dataset/covid19/'],
    ['a dataset without rows', '/dataset/govbr/'],
    ['files', '/files/covid19/'],
    ['a table', '/dataset/covid19/caso/'],
    ['a filtered table', '/dataset/covid19/caso/?state=SP&place_type=city&city__contains=a&search=s&page=2'],
    ['a table without rows', '/dataset/covid19/caso/?city=nowhere'],
    ['few columns', '/dataset/covid19/caso_full/?fields=city,date,state&ordering=-state'],
    ['a time line', '/dataset/covid19/caso_full/chart/?place_type=state'],
    ['a tile map', '/dataset/covid19/caso/chart/?group=state&place_type=state'],
    ['bars', '/dataset/covid19/caso/chart/?group=is_last,place_type'],
    ['stacked columns', '/dataset/covid19/caso_full/chart/?group=date__month,place_type'],
    ['a chart of each state', '/dataset/covid19/caso/chart/?group=date,state&place_type=state'],
    ['compared states', '/dataset/covid19/caso/chart/?group=date,state&place_type=state&state__in=AC,AM,SP'],
    ['datasets of a topic', '/?theme=HEAL'],
    ['a chart in a frame', '/embed/covid19/caso/chart/?group=state&place_type=state'],
    ['a table in a frame', '/embed/covid19/caso/?state=SP'],
    ['fields', '/dataset/covid19/caso_full/fields/'],
    ['the API', '/dataset/covid19/caso/api/'],
    ['SQL', '/dataset/covid19/caso/sql/?state=SP'],
    ['an error', '/dataset/nope/'],
  ]
  const plain: readonly (readonly [kind: string, path: string])[] = [
    ['JSON of the datasets', '/api/v1/datasets/'],
    ['JSON of rows', '/api/v1/dataset/covid19/caso/data/?page_size=5'],
  ]
  const looks = [
    { width: 360, colorScheme: 'light' },
    { width: 768, colorScheme: 'dark' },
    { width: 1440, colorScheme: 'light' },
    { width: 360, colorScheme: 'dark' },
    { width: 768, colorScheme: 'light' },
    { width: 1440, colorScheme: 'dark' },
  ] as const

  test.each([
    ...kinds.flatMap(([kind, path]) =>
      languages.map((language) => [`${kind}, ${language}`, `/${language}${path}`]),
    ),
    ...plain.map(([kind, path]) => [kind, path]),
  ])(
    '%s is accessible, fits the screen, and has readable sizes',
    async (_kind, path = '') => {
      const problems: unknown[] = []
      const page = await browser().newPage()
      const trouble = troubleOf(page, at.base)
      await page.goto(at.base + path)
      // An error is an answer that says so.
      const messages = trouble.filter((line) => !/404 \(Not Found\)/.test(line))
      await page.evaluate(axe)
      // The narrowest looks in Portuguese, whose words are longer, others by the seed in English; all where all is tried.
      const lookIndex = path.startsWith('/pt') ? 0 : 1 + (seed % 2)
      for (const [index, { width, colorScheme }] of looks.entries()) {
        if (!isExhaustive && index % 3 !== lookIndex) continue
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        problems.push(...(await page.evaluate(examine, { width, colorScheme })))
      }
      await page.close()
      expect([messages, problems]).toEqual([[], []])
    },
    60_000,
  )

  test('the first row of every table begins within 500 px on a desktop, and within 600 px on a phone', async () => {
    const shop = await publishSamples()
    const wholeSite = await site(shop)
    const page = await browser().newPage()
    const low: unknown[] = []
    for (const table of allTables(shop.catalog)) {
      for (const language of languages) {
        await page.goto(`${wholeSite.base}/${language}/dataset/${tableId(table)}/`)
        for (const [width, height, most] of [
          [1440, 900, 500],
          [390, 844, 600],
        ] as const) {
          await page.setViewportSize({ width, height })
          const row = page.locator('.grid tbody tr').first()
          const top = (await row.boundingBox())?.y ?? Infinity
          const isScrolled = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
          if (top > most || isScrolled) low.push([tableId(table), language, width, top, isScrolled])
        }
      }
    }
    await page.close()
    wholeSite.close()
    expect(low).toEqual([])
  }, 120_000)

  test('a menu opens over the page, and closes by Escape or a click elsewhere', async () => {
    const page = await browser().newPage()
    await page.goto(`${at.base}/en/dataset/covid19/caso/`)
    const openMenus = (): Promise<string[]> =>
      page.evaluate(() =>
        [...document.querySelectorAll('details.menu[open] > summary')].map((summary) =>
          summary.textContent.trim(),
        ),
      )
    await page.click('#downloads > summary')
    expect(await openMenus()).toEqual(['Download'])
    await page.click('.menu.filter > summary')
    expect(await openMenus()).toEqual(['+ Filter'])
    await page.keyboard.press('Escape')
    expect(await openMenus()).toEqual([])
    expect(await page.evaluate(() => document.activeElement?.textContent.trim())).toBe('+ Filter')
    await page.close()
  })

  test('a reader chooses light or dark colours on one page, and other pages keep this choice', async () => {
    const page = await browser().newPage({ colorScheme: 'light' })
    const background = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    await page.goto(`${at.base}/en/`)
    const light = await background()
    await page.click('[data-lights]')
    const dark = await background()
    await page.goto(`${at.base}/en/about/`)
    expect([light, dark, await background()]).toEqual([
      'rgb(255, 255, 255)',
      'rgb(20, 23, 26)',
      'rgb(20, 23, 26)',
    ])
    await page.close()
  })

  test('a chart is shown in a frame of another site, and other pages are not', async () => {
    const page = await browser().newPage()
    const chart = `${at.base}/en/dataset/covid19/caso/chart/?group=state&place_type=state`
    await page.goto(chart)
    await page.click('summary:text("Embed")')
    const line = await page.textContent('code[data-copy]:has-text("<iframe")')
    const shown = async (frame: string): Promise<string | null> => {
      const outside = http.createServer((_req, res) => {
        res.setHeader('Content-Type', 'text/html')
        res.end(`<!doctype html><title>News</title>${frame}`)
      })
      outside.listen(0, '127.0.0.1')
      await once(outside, 'listening')
      const { port } = outside.address() as AddressInfo
      await page.goto(`http://127.0.0.1:${port}/`)
      await page.waitForTimeout(500)
      const text = await page
        .frames()[1]
        ?.evaluate(() => document.querySelector('svg text')?.textContent ?? null)
        .catch(() => null)
      outside.close()
      return text ?? null
    }
    expect(await shown(line ?? '')).toMatch(/^[A-Z]{2}$/)
    expect(await shown(`<iframe src="${chart.replaceAll('&', '&amp;')}"></iframe>`)).toBeNull()
    await page.close()
  })

  test('a chart is saved as a picture of its SVG file', async () => {
    const page = await browser().newPage()
    const trouble = troubleOf(page, at.base)
    await page.goto(`${at.base}/en/dataset/covid19/caso/chart/?group=date&place_type=state`)
    await page.click('#downloads > summary')
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=PNG')])
    const png = await readFile(await download.path())
    const svg = await (await fetch(at.base + (await page.getAttribute('a[data-png]', 'href')))).text()
    const [, width = '', height = ''] = /<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? []
    // The header of a PNG has its width and height.
    const sizes = [png.readUInt32BE(16), png.readUInt32BE(20)]
    expect([download.suggestedFilename(), png.subarray(1, 4).toString(), sizes, trouble]).toEqual([
      'caso.png',
      'PNG',
      [2 * Math.floor(Number(width)), 2 * Math.floor(Number(height))],
      [],
    ])
    expect(png.length).toBeGreaterThan(10_000)
    await page.close()
  })

  test('filters suggest values with their numbers of rows', async () => {
    const rows = Array.from(
      { length: 1000 },
      (_, n) => `name ${n % 300},${n < 300 ? 'rare' : n < 999 ? 'common' : 'other'}`,
    )
    const fields = [
      { name: 's', type: 'string' },
      { name: 'k', type: 'string' },
    ]
    const shop = await workshop(catalogAround([{ name: 't', order: [], filters: ['s', 'k'], fields }]), {
      'd/t.csv': `s,k\n${rows.join('\n')}\n`,
    })
    await shop.ingest()
    const ownSite = await site(shop)
    endWithFile(ownSite.close)
    const page = await browser().newPage()
    const trouble = troubleOf(page, ownSite.base)
    await page.goto(`${ownSite.base}/en/dataset/d/t/`)
    const openSection = async (title: string): Promise<void> => {
      await page.click('.menu.filter > summary')
      await page.locator('.sections summary', { hasText: title }).click()
    }
    await openSection('s')
    await page.locator('#f-s').pressSequentially('name 29', { delay: 20 })
    const suggested = page.locator('#f-s-values option')
    await suggested.first().waitFor({ state: 'attached' })
    const options = await suggested.evaluateAll((elements) =>
      elements.map((element) => (element instanceof HTMLOptionElement ? [element.value, element.label] : [])),
    )
    // The most frequent first: `name 29` is there four times, the others with 29 three times.
    expect([options.length, options[0]]).toEqual([10, ['name 29', '4']])
    expect(options.slice(1).every(([name = '', count]) => name.startsWith('name 29') && count === '3')).toBe(
      true,
    )
    // Choosing a suggestion fills the input.
    await page.fill('#f-s', 'name 29')
    await page.press('#f-s', 'Enter')
    await page.waitForURL(/name/)
    expect(new URL(page.url()).search).toBe('?s__eq=name+29')
    // Lists count the rows that match the other conditions, and a click on a value filters.
    await openSection('k')
    const choices = page.locator('.choices label')
    await choices.filter({ hasText: 'rare (' }).waitFor()
    const texts = await choices.allTextContents()
    expect(texts.map((text) => text.trim().replaceAll(/\s+/g, ' '))).toEqual([
      'common (3)',
      'other (0)',
      'rare (1)',
    ])
    await page.click('text=rare (')
    await page.click('text=other (')
    await page.click('.filters > button')
    await page.waitForURL(/rare/)
    expect([new URL(page.url()).search, trouble]).toEqual(['?s=name+29&k__in=other%2Crare', []])
    expect(await page.locator('.count').innerText()).toBe('1 row')
    await page.close()
  })

  test('charts show values under a pointer, under a finger and by arrow keys', async () => {
    const chart = `${at.base}/en/dataset/covid19/caso/chart/`
    for (const width of [1440, 390]) {
      const context = await browser().newContext({
        viewport: { width, height: 844 },
        hasTouch: width === 390,
      })
      const page = await context.newPage()
      const trouble = troubleOf(page, at.base)
      await page.goto(`${chart}?place_type=state&group=date,state&measure=deaths__sum&state__in=SP,AC`)
      const drawing = page.locator('svg.chart:visible')
      const { x, y, width: wide = 0, height = 0 } = (await drawing.boundingBox()) ?? { x: 0, y: 0 }
      const [right, middle] = [x + wide * 0.8, y + height / 2]
      const tip = page.locator('.tip:visible')
      await (width === 390 ? page.touchscreen.tap(right, middle) : page.mouse.move(right, middle))
      const days = /^[A-Z][a-z]+ \d+, 2020\n(SP|AC): [\d,]+/
      expect(await tip.innerText()).toMatch(days)
      await page.mouse.move(0, 0)
      await drawing.focus()
      await page.keyboard.press('ArrowRight')
      const last = await tip.innerText()
      await page.keyboard.press('ArrowLeft')
      const before = await tip.innerText()
      expect([days.test(last), days.test(before), last === before]).toEqual([true, true, false])
      await page.goto(`${chart}?place_type=state&group=state&measure=deaths__sum`)
      await page.locator('svg.chart a').first().focus()
      expect(await tip.innerText()).toMatch(/^[A-Z]{2}: [\d,]+$/)
      expect(trouble).toEqual([])
      await context.close()
    }
  })

  test('a choice is sent at once, and empty inputs stay out of the address', async () => {
    const page = await browser().newPage()
    await page.goto(`${at.base}/en/dataset/covid19/caso/chart/?place_type=state`)
    await page.selectOption('#chart-group', 'date')
    await page.waitForURL(/group=date/)
    await page.waitForFunction(() => document.activeElement?.id === 'chart-group')
    expect(new URL(page.url()).search).toBe('?place_type=state&is_last=true&group=date&measure=deaths__sum')
    await page.goto(`${at.base}/en/dataset/covid19/caso/`)
    await page.click('.menu.filter > summary')
    await page.fill('#search', 'a')
    await page.press('#search', 'Enter')
    await page.waitForURL(/search=a/)
    expect(new URL(page.url()).search).toBe('?search=a')
    await page.close()
  })

  test('a page that a reader returns to has forms with the filters of its address', async () => {
    const page = await browser().newPage()
    await page.goto(`${at.base}/en/dataset/covid19/caso/`)
    await page.click('.filter > summary')
    await page.click('.sections summary:has-text("State")')
    await page.check('input[name=state__in][value=SP]')
    await page.click('.filters button')
    await page.waitForURL(/state__in=SP/)
    await page.goBack()
    expect(await page.isChecked('input[name=state__in][value=SP]')).toBe(false)
    await page.goto(`${at.base}/en/dataset/covid19/caso/chart/`)
    const measure = await page.inputValue('#chart-measure')
    await page.selectOption('#chart-measure', { index: 0 })
    await page.waitForURL(/measure=/)
    await page.goBack()
    expect(await page.inputValue('#chart-measure')).toBe(measure)
    await page.close()
  }, 60_000)

  test('a profile closes by Escape', async () => {
    const page = await browser().newPage()
    await page.goto(`${at.base}/en/dataset/covid19/caso/`)
    await page.click('.profile summary >> nth=0')
    await page.keyboard.press('Escape')
    expect(await page.locator('.profile[open]').count()).toBe(0)
    await page.close()
  })

  test('on a phone, a profile opens within the screen, its values lead to their rows, and it closes', async () => {
    const page = await browser().newPage({ viewport: { width: 390, height: 844 } })
    await page.goto(`${at.base}/en/dataset/covid19/caso/`)
    for (const index of [0, 1, 2]) {
      await page.click(`.profile summary >> nth=${index}`)
      const box = await page.locator('.profile[open] > div').boundingBox()
      expect(box?.x).toBeGreaterThanOrEqual(0)
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(844)
      // The cross is at the bottom of the screen.
      await page.mouse.click(195, 820)
      expect(await page.locator('.profile[open]').count()).toBe(0)
    }
    await page.click('.profile:has(.values) summary >> nth=0')
    await page.click('.profile[open] .values a >> nth=0')
    await page.waitForURL(/\?\w+=/)
    await page.close()
  })

  test('a printed table shows all its columns, and large text does not scroll sideways on a phone', async () => {
    // A page of A4 across, without its margins.
    const page = await browser().newPage({ viewport: { width: 1047, height: 700 } })
    await page.emulateMedia({ media: 'print' })
    for (const table of ['covid19/caso_full', 'covid19/obito_cartorio']) {
      await page.goto(`${at.base}/pt/dataset/${table}/`)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1047)
    }
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 390, height: 844 })
    const session = await page.context().newCDPSession(page)
    await session.send('Page.setFontSizes', { fontSizes: { standard: 32 } })
    for (const aspect of ['', 'chart/', 'fields/', 'sql/', 'files/']) {
      await page.goto(`${at.base}/pt/dataset/covid19/caso_full/${aspect}`)
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      expect([aspect, width]).toEqual([aspect, 390])
    }
    await page.close()
  }, 60_000)

  test('everything on a table can be reached by keyboard, and nothing traps the focus', async () => {
    const page = await browser().newPage()
    await page.goto(`${at.base}/en/dataset/covid19/boletim/?page_size=3`)
    const count = await page.evaluate(
      () => document.querySelectorAll('a[href], button:not([hidden]), input, select, summary').length,
    )
    const seen = new Set<string>()
    for (let step = 0; step < count + 60; step += 1) {
      await page.keyboard.press('Tab')
      seen.add(await page.evaluate(() => document.activeElement?.outerHTML.slice(0, 200) ?? ''))
    }
    const kindsSeen = [...seen].map((text) => /^<(\w+)/.exec(text)?.[1])
    for (const kind of ['a', 'button', 'input', 'summary', 'div', 'body']) expect(kindsSeen).toContain(kind)
    await page.close()
  }, 60_000)

  test.each([
    '/pt/dataset/covid19/caso_full/chart/',
    '/pt/dataset/covid19/caso_full/chart/?group=date,state&measure=new_deaths__sum&place_type=state',
    '/en/dataset/covid19/obito_cartorio/chart/',
    '/pt/dataset/covid19/boletim/chart/',
  ])(
    'the frame of %s is as high as its content',
    async (target) => {
      const page = await browser().newPage()
      await page.goto(at.base + target)
      const line = await page.locator('code:has-text("<iframe")').textContent()
      const [, src = '', height = ''] = /src="([^"]*)".* height="(\d+)"/.exec(String(line)) ?? []
      for (const width of [374, 640]) {
        await page.setViewportSize({ width, height: Number(height) })
        await page.goto(unescaped(src))
        const overflow = await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight)
        expect([width, overflow]).toEqual([width, 0])
      }
      await page.close()
    },
    60_000,
  )

  test('the first column of a table stays visible while the others scroll', async () => {
    const page = await browser().newPage({ viewport: { width: 700, height: 900 } })
    await page.goto(`${at.base}/en/dataset/covid19/caso/`)
    const edges = await page.evaluate(() => {
      const grid = document.querySelector('.grid')
      grid?.scrollTo({ left: 250 })
      return [...document.querySelectorAll('.grid tr > :first-child')].map((cell) =>
        Math.round(cell.getBoundingClientRect().left - (grid?.getBoundingClientRect().left ?? 0)),
      )
    })
    expect(edges.length).toBeGreaterThan(3)
    expect([...new Set(edges)]).toEqual([1])
    await page.close()
  }, 60_000)

  test('the fields of a table are read on a phone without scrolling sideways', async () => {
    const page = await browser().newPage({ viewport: { width: 390, height: 900 } })
    await page.goto(`${at.base}/en/dataset/covid19/caso/fields/`)
    const widest = await page.evaluate(() =>
      Math.max(
        ...[...document.querySelectorAll('main td')].map((cell) => cell.getBoundingClientRect().right),
      ),
    )
    expect(widest).toBeLessThanOrEqual(390)
    await page.close()
  }, 60_000)

  test('without JavaScript, the SQL page shows a sentence instead of its form', async () => {
    const context = await browser().newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${at.base}/en/dataset/covid19/caso/sql/?state=SP`)
    expect(await page.locator('form[data-console]').isVisible()).toBe(false)
    expect(await page.locator('noscript').isVisible()).toBe(true)
    await context.close()
  }, 60_000)

  test('the SQL console queries the rows of a selection, and needs no network except this service', async () => {
    const context = await browser().newContext()
    await context.route('**', (route) =>
      route.request().url().startsWith(at.base) ? route.continue() : route.abort(),
    )
    const page = await context.newPage()
    const trouble = troubleOf(page, at.base)
    await page.goto(`${at.base}/en/dataset/covid19/caso/sql/?state=SP`)
    const ask = async (sql: string): Promise<[status: string, cells: string[]]> => {
      await page.fill('#sql', sql)
      await page.click('form[data-console] button:not([type=button])')
      await page.waitForFunction(
        () =>
          document.querySelector<HTMLButtonElement>('form[data-console] button:not([type=button])')
            ?.disabled === false,
      )
      const cells = await page.locator('[data-result] td').allTextContents()
      return [(await page.textContent('[data-status]')) ?? '', cells]
    }
    const { count } = (await (
      await fetch(`${at.base}/api/v1/dataset/covid19/caso/data/?state=SP&page_size=1`)
    ).json()) as { count: number }
    const sum = (await (
      await fetch(`${at.base}/api/v1/dataset/covid19/caso/data/?state=SP&page_size=10000`)
    ).json()) as {
      results: { confirmed: number }[]
    }
    const total = sum.results.reduce((sumSoFar, { confirmed }) => sumSoFar + confirmed, 0)
    expect(await ask('select count(*), sum(confirmed), min(state), max(state) from caso')).toEqual([
      expect.stringMatching(/^Rows: 1 \(/),
      [String(count), String(total), 'SP', 'SP'],
    ])
    expect(
      (
        await ask(
          `select 'a"b' as x, null as y, 12345678901234567890123456789.5::decimal(38,1) as z, '' as e;`,
        )
      )[1],
    ).toEqual(['a"b', '–', '12345678901234567890123456789.5', ''])
    expect(
      (
        await ask(
          'with t as (select place_type, count(*) n from caso group by all) select * from t order by n',
        )
      )[1].length,
    ).toBeGreaterThan(1)
    for (const wrong of ['select nope', 'select', 'select 1 +', `select 'x'::integer`]) {
      const [status, cells] = await ask(wrong)
      const reported = (await page.textContent('[data-result] pre')) ?? ''
      expect([wrong, status, cells]).toEqual([wrong, 'The query did not run. DuckDB answered:', []])
      expect(reported).toMatch(/error/i)
      expect(reported.match(/LINE 1:/g)?.length ?? 0).toBeLessThan(2)
      // Nothing of the statement around it.
      expect(reported).not.toMatch(/copy|from \(/i)
    }
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      (async () => {
        await ask('select 1 as one')
        await page.click('[data-csv]')
      })(),
    ])
    expect(await readFile(await download.path(), 'utf8')).toBe('"one"\n"1"\n')
    // The address has the query, and opens with it.
    const address = page.url()
    expect(decodeURIComponent(new URL(address).hash)).toBe('#sql=select 1 as one')
    await page.goto('about:blank')
    await page.goto(address)
    expect(await page.inputValue('#sql')).toBe('select 1 as one')
    const examples = await page.locator('[data-example]').count()
    for (let index = 0; index < examples; index += 1) {
      await page.locator('[data-example]').nth(index).click()
      await page.waitForFunction(() =>
        /^Rows: [1-9]/.test(document.querySelector('[data-status]')?.textContent ?? ''),
      )
      expect(await page.locator('[data-result] tbody tr').count()).toBeGreaterThan(0)
      await page.evaluate(() => document.querySelector('[data-status]')?.replaceChildren())
    }
    expect(examples).toBe(3)
    expect(trouble).toEqual([])
    const [refused] = await Promise.all([
      page.waitForEvent('requestfailed'),
      ask(`select * from 'https://example.org/x.parquet'`),
    ])
    expect([refused.url(), refused.failure()?.errorText]).toEqual(['https://example.org/x.parquet', 'csp'])
    await context.close()
  }, 120_000)
})

interface AxeRun {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string }[]
  }[]
}

/** Runs in the browser: what is not right in a page as it stands. */
async function examine(look: { width: number; colorScheme: string }): Promise<string[]> {
  const { axe } = globalThis as unknown as { axe: { run: () => Promise<AxeRun> } }
  const said = JSON.stringify(look)
  const { violations } = await axe.run()
  const faults = violations.map(
    ({ id, nodes }) =>
      `${said} ${id}: ${nodes
        .map(({ html }) => html.slice(0, 150))
        .slice(0, 3)
        .join(' ')}`,
  )
  const over = document.documentElement.scrollWidth - innerWidth
  if (over > 0) faults.push(`${said} is ${over} pixels too wide`)
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const holder = node.parentElement
    if (
      holder === null ||
      (node.textContent ?? '').trim() === '' ||
      holder.closest('script, noscript, svg') !== null
    )
      continue
    const size = Number.parseFloat(getComputedStyle(holder).fontSize)
    if (size < 16) faults.push(`${said} small text of ${size}: ${holder.outerHTML.slice(0, 100)}`)
  }
  return faults
}
