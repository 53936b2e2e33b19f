import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { allTables, tableId } from '../../../core/catalog/catalog.ts'
import { languages } from '../../../core/catalog/names.ts'
import { formsIn, linksIn, rowCountOn, type Control } from './markup.ts'
import { randomFrom } from '../../evaluator/random-queries.ts'
import { isExhaustive, isQuick, seed } from '../../support/runs.ts'
import { serve } from '../../support/service.ts'
import { publishSamples } from '../../support/samples.ts'

/** The whole portal of the catalog, as a crawler without JavaScript finds it. */

let server: http.Server
let base: string
let published: string[]
beforeAll(async () => {
  const shop = await publishSamples()
  const { app } = await serve(shop)
  server = http.createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  published = allTables(shop.catalog).map(tableId)
}, 120_000)
afterAll(() => {
  server.close()
})

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

interface Got {
  readonly status: number
  readonly target: string
  readonly type: string
  readonly text: string
}

/** As a browser follows it; of what is no page, only that it is whole. */
async function get(target: string): Promise<Got> {
  const answer = await fetch(base + target, { headers: browser })
  const { pathname, search } = new URL(answer.url)
  const type = answer.headers.get('content-type') ?? ''
  const text = await answer.text()
  return {
    status: answer.status,
    target: pathname + search,
    type,
    text: type.startsWith('text/html') ? text : '',
  }
}

/** Path and query of a link, where it leads to this service. */
function here(link: string, page: string): string | null {
  const { origin, pathname, search } = new URL(link, `http://localhost:8000${page}`)
  return origin === 'http://localhost:8000' ? pathname + search : null
}

/** One language after the other, from run to run, but where all is tried. */
const spoken = isExhaustive ? languages : languages.filter((_, index) => index === seed % languages.length)

/** Tables whose pages are opened: the first in `make test`. */
const openedTables = (): readonly string[] => (isQuick ? published.slice(0, 1) : published)

/** Pages that are opened to follow what is on them; all others are only looked at. */
function isOpened(target: string): boolean {
  const [, first = ''] = target.split('/')
  if (target === '/') return true
  if (!spoken.some((language) => language === first) || /\/(row|sql)\/|\?/.test(target)) return false
  const [, table] = /\/dataset\/([^/]+\/[^/]+)\//.exec(target) ?? []
  return table === undefined || openedTables().includes(table)
}

test('every link and every download works', async () => {
  const seen = new Set<string>(['/'])
  const left = ['/']
  const broken: string[] = []
  while (left.length > 0) {
    const page = left.shift() ?? ''
    const got = await get(page)
    if (got.status !== 200) broken.push(`${got.status} ${page}`)
    if (!isOpened(page)) continue
    for (const link of linksIn(got.text)) {
      const target = here(link, got.target)
      if (target === null || seen.has(target)) continue
      // Rows are alike, and there are many.
      if (
        /\/row\//.test(target) &&
        [...seen].some((seenTarget) => seenTarget.startsWith(target.split('row/')[0] + 'row/'))
      )
        continue
      seen.add(target)
      left.push(target)
    }
  }
  expect(broken).toEqual([])
  for (const table of published) {
    for (const language of spoken) expect(seen).toContain(`/${language}/dataset/${table}/`)
  }
  for (const table of openedTables()) {
    expect([...seen].filter((target) => target.startsWith(`/files/${table}`)).length).toBeGreaterThan(3)
  }
}, 300_000)

test('a page of any table is small: one style sheet, one script, and at most 100 kB', async () => {
  const large: unknown[] = []
  for (const table of published) {
    for (const language of languages) {
      const target = `/${language}/dataset/${table}/`
      const { text } = await get(target)
      const counts = [/<link rel="stylesheet"/g, /<script\b/g, /<tr>/g].map(
        (tag) => text.match(tag)?.length ?? 0,
      )
      const [sheets, scripts, lines = 0] = counts
      if (Buffer.byteLength(text) > 100_000 || sheets !== 1 || scripts !== 1 || lines < 2)
        large.push([target, text.length, counts])
    }
  }
  expect(large).toEqual([])
})

test('scripts have less than 10 kB each, except for the one that runs SQL', async () => {
  const { text } = await get('/en/')
  const [, script = ''] = /<script\s+src="([^"]*)"/.exec(text) ?? []
  const answer = await fetch(base + script)
  const length = (await answer.text()).length
  expect([answer.status, length > 1000, length < 10_000]).toEqual([200, true, true])
})

test('every form of every table shows the number of rows that the API counts', async () => {
  const random = randomFrom(seed)
  const wrong: string[] = []
  for (const [index, table] of published.entries()) {
    const page = `/${languages[index % languages.length] ?? ''}/dataset/${table}/`
    for (const form of formsIn((await get(page)).text)) {
      for (let filling = 0; filling < 3; filling += 1) {
        const asked = new URLSearchParams(form.controls.flatMap((control) => filled(control, random)))
        const got = await get(`${form.action}?${asked.toString()}`)
        const shown = rowCountOn(got.text) ?? '0'
        const query = new URL(got.target, base).searchParams
        query.delete('page')
        const answer = await fetch(`${base}/api/v1/dataset/${table}/data/?${query.toString()}&page_size=1`)
        const count = answer.headers.get('acervo-count')
        if (got.status !== 200 || shown.replaceAll(/[.,]/g, '') !== count) {
          wrong.push(`${seed}: ${got.status} ${got.target} shows ${shown}, the API counts ${count ?? ''}`)
        }
      }
    }
  }
  expect(wrong).toEqual([])
}, 300_000)

/** Fills controls as a person might; most are left unchanged. */
function filled(
  { name, kind, value, isChecked, choices }: Control,
  random: () => number,
): [string, string][] {
  const isTouched = random() < 0.3
  if (kind === 'hidden') return [[name, value]]
  if (kind === 'checkbox') return isChecked !== isTouched ? [[name, value]] : []
  if (kind === 'choice')
    return [[name, isTouched ? (choices[Math.floor(random() * choices.length)] ?? '') : '']]
  if (name === 'page') return [[name, '1']]
  if (!isTouched) return [[name, value]]
  if (kind === 'date') return [[name, name.endsWith('__gte') ? '1990-01-01' : '2100-01-01']]
  if (kind === 'datetime-local')
    return [[name, name.endsWith('__gte') ? '1990-01-01T00:00' : '2100-01-01T00:00']]
  if (name === 'search' || name.endsWith('__contains')) return [[name, 'a']]
  return [[name, name.endsWith('__gte') ? '1990' : '2100']]
}

test('the chart page of any table opens with a drawing and a readable title, in at most 100 kB', async () => {
  const faults: unknown[] = []
  for (const table of published) {
    for (const language of languages) {
      const { status, text } = await get(`/${language}/dataset/${table}/chart/`)
      const drawings = text.match(/<svg[^>]* class="chart/g)?.length ?? 0
      const [, title = ''] = /<figcaption>\s*<h2>(.*?)<\/h2>/s.exec(text) ?? []
      if (
        status !== 200 ||
        drawings === 0 ||
        title === '' ||
        title.includes('_') ||
        Buffer.byteLength(text) > 100_000
      )
        faults.push([table, language, status, drawings, title, Buffer.byteLength(text)])
    }
  }
  expect(faults).toEqual([])
}, 120_000)
