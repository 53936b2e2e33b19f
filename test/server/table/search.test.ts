import { getPage, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** Searches for words, in parts whose words are indexed. */

const address = '/api/v1/dataset/d/t/data/'

test('a search uses the fields that the catalog names now', async () => {
  const fields = ['a:string', 'b:string'].map(fieldOf)
  const searching = (name: string) => catalogAround([{ name: 't', order: [], search: [name], fields }])
  const lines = Array.from({ length: 64 }, (_, n) => `one${n},two${n}\n`)
  const shop = await workshop(searching('a'), { 'd/t.csv': `a,b\n${lines.join('')}` })
  await shop.ingest({ partRows: 16, codedDistinctMax: 1 })
  for (const [name, due] of [
    ['a', [1, 0]],
    ['b', [0, 1]],
  ] as const) {
    const { app } = await serve({ ...shop, catalog: searching(name) })
    const pages = await Promise.all(['one7', 'two7'].map((word) => getPage(app, `${address}?search=${word}`)))
    expect([name, pages.map(({ count }) => count)]).toEqual([name, due])
  }
})

test('a word is searched in each field, and never across two', async () => {
  const words = ['sol', 'mar', 'lua', 'rio']
  const lines = Array.from({ length: 64 }, (_, n) => [
    `${words[n % 4]} ${n}`,
    words[n >> 4],
    `${n} ${words[n % 3]}`,
  ])
  const fields = ['a', 'b', 'c']
  const shop = await workshop(
    catalogAround([
      { name: 't', order: [], search: fields, fields: fields.map((name) => fieldOf(`${name}:string`)) },
    ]),
    { 'd/t.csv': `a,b,c\n${lines.map((line) => line.join()).join('\n')}\n` },
  )
  await shop.ingest({ partRows: 16, codedDistinctMax: 1 })
  const { app } = await serve(shop)
  for (const word of ['sol', 'solmar', '7sol', '1lua', 'rio1', 'marrio', 'ol', '12', 'mar 1']) {
    const due = lines.filter((line) =>
      word.split(' ').every((part) => line.some((text) => text?.includes(part))),
    )
    const { results } = await getPage(app, `${address}?search=${word}&page_size=1000`)
    expect([word, results.map(({ a }) => a)]).toEqual([word, due.map(([a]) => a)])
  }
})

/** Ways by which texts are searched, with the options that choose them. */
const engines = [
  ['codes', true, 100],
  ['the row store', true, 1],
  ['parts', false, 1],
] as const

/** Serves a table of 64 numbered texts, the first of which are given. */
async function servedTexts(texts: readonly string[], packed: boolean, codedDistinctMax: number) {
  const fields = ['n:integer', 's:string'].map(fieldOf)
  const table = { name: 't', order: ['n'], filters: ['s'], search: ['s'], packed, fields }
  const lines = Array.from(
    { length: 64 },
    (_, n) => `${n},"${(texts[n] ?? `other ${n}`).replaceAll('"', '""')}"`,
  )
  const shop = await workshop(catalogAround([table]), { 'd/t.csv': `n,s\n${lines.join('\n')}\n` })
  await shop.ingest({ partRows: 16, codedDistinctMax })
  return serve(shop)
}

/** Searches with `*`, and the texts of `starting` that they match. */
const starts: readonly (readonly [search: string, matches: readonly number[]])[] = [
  ['mau*', [0, 1, 2, 3, 4]],
  ['MAU*', [0, 1, 2, 3, 4]],
  ['maurí*', [0, 1, 2]],
  ['mau* fer*', [1, 3]],
  ['"ana mau*"', [1]],
  ['(mau*)', [0, 1, 2, 3, 4]],
  ['mau**, ana', [1, 2]],
  ['mau', [0, 1, 2, 3, 4, 5, 6]],
  ['*mau*', [0, 1, 2, 3, 4, 5, 6]],
  ['*mau', [0, 1, 2, 3, 4, 5, 6]],
  ['d.c*', [7]],
  ['x+mau*', []],
]
const starting = [
  'Maurício',
  'Ana Maurício Ferreira',
  'ana-mauricio',
  'João (Mau) Fera',
  '2º Mau',
  'Tamaura',
  '9mau',
  'Brasília d.c.',
  'dxcx',
]

test.each(engines)(
  'a `*` at the end of a word searches for the start of a word in %s',
  async (_from, packed, codedDistinctMax) => {
    const { app } = await servedTexts(starting, packed, codedDistinctMax)
    for (const [search, matches] of starts) {
      const { results } = await getPage(app, `${address}?${new URLSearchParams({ search }).toString()}`)
      expect([search, results.map(({ n }) => n)]).toEqual([search, matches])
    }
    // The address of a page reads as the same search.
    const { next } = await getPage(app, `${address}?search=${encodeURIComponent('"ana*" mau*')}&page_size=1`)
    expect(next).toContain('search=ana%2A+mau%2A')
  },
)

/** Texts, and operands that people type for them. */
const typed: [text: string, operands: string[]][] = [
  ['SANTA BÁRBARA D’OESTE', ["d'oeste", 'd’oeste', 'D‘OESTE', 'd´oeste']],
  ["Pau D'Alho", ['d’alho', "d'alho"]],
  ['Guiné–Bissau', ['guine-bissau', 'guine–bissau', 'GUINÉ—BISSAU']],
  ['“Casa” do Sol', ['"casa" do', '“casa” do']],
  ['São\u00a0Paulo', ['sao paulo', 'são\u00a0paulo']],
  ['ＡＢＣ－１２', ['abc-12', 'ＡＢＣ－１２']],
  ['−5', ['-5', '–5']],
]

test.each(engines)(
  'signs with several typographic forms are equal in %s',
  async (_from, packed, codedDistinctMax) => {
    const { app } = await servedTexts(
      typed.map(([text]) => text),
      packed,
      codedDistinctMax,
    )
    for (const [n, [text, operands]] of typed.entries()) {
      for (const operand of operands) {
        const asked = [
          ['s__contains', operand],
          ['s__startswith', text],
          ['s__iexact', text.replace('’', "'").replace('–', '-')],
          ['search', `"${operand.replaceAll(/["“”]/g, ' ')}"`],
        ]
        for (const [name = '', value = ''] of asked) {
          const { results } = await getPage(app, `${address}?${name}=${encodeURIComponent(value)}`)
          // A phrase cannot have quotes.
          const due = name === 'search' && operand.includes('asa') ? [] : [n]
          expect([name, value, results.map((row) => row['n'])]).toEqual([name, value, due])
        }
      }
    }
  },
)
