import type { IncomingMessage, ServerResponse } from 'node:http'
import { allTables, type Dataset, type Table } from '../core/catalog/catalog.ts'
import { isBelow } from '../core/catalog/catalog-files.ts'
import { parseDateFormat } from '../core/catalog/date-format.ts'
import { fieldTypeNames } from '../core/catalog/field-types.ts'
import { inlineYaml, yamlComment } from '../core/catalog/add-table.ts'
import { parseNamePattern } from '../core/catalog/name-pattern.ts'
import { baseAddress } from '../core/settings/parse.ts'
import { parsedJson, quotedJson, didYouMean, fileWildcard } from '../core/text.ts'
import { masks } from '../ingest/source/mask.ts'
import { nameIn, pathIn, pauseOf, totalOf } from '../ingest/source/response-headers.ts'
import { bestWay } from '../ingest/dialect/candidates.ts'
import { isLikelyHeader } from '../ingest/dialect/header.ts'
import { suggestField } from '../ingest/suggest/column.ts'
import { momentForm } from '../ingest/suggest/moments.ts'
import { namesFor, tableNameFor } from '../ingest/suggest/names.ts'
import { numberForm } from '../ingest/suggest/numbers.ts'
import { packageOf } from '../server/documents/ckan/package.ts'
import { parseSearch, parseSort } from '../server/documents/ckan/query.ts'
import { clientOf } from '../server/http/client.ts'
import { beginRange } from '../server/http/range.ts'
import { matchingTag, acceptedEncodings, acceptable, jsonOffer } from '../server/http/negotiation.ts'
import { writingOf } from '../server/routes/documents/service.ts'
import { contextFor, contextsOf } from '../server/pages/service.ts'
import { bibtex } from '../server/documents/citation.ts'
import { html, safeAddress, textOf } from '../server/pages/html.ts'
import { jsonPage } from '../server/pages/json.ts'
import { writtenIn } from '../server/documents/words/number-formats.ts'
import type { Words } from '../server/documents/words/en.ts'
import { languageFor } from '../server/documents/words/all.ts'
import { formatList, parseList } from '../server/query/list.ts'
import { parseRowQuery } from '../server/query/query.ts'
import { parametersOf } from '../server/query/parameters.ts'
import { selectedCodes } from '../server/table/selection/access/codes/clauses.ts'
import { readValue, trimBlanks } from '../server/query/operators.ts'
import { isExhaustive, isQuick, seed } from './support/runs.ts'
import { catalogAround, fieldOf } from './support/workshop.ts'

/**
 * Nothing that a request, a file name or a cell of a CSV reaches takes more than linear time, or about that. This is the one
 * test that reads a clock: of the processor, comparing the same code with itself.
 */

/** Characters of the shortest input; the others have ten and a hundred times as many. */
const shortest = 300
/**
 * CPU time at a hundred times the length, to that of the shortest. Linear code takes 100, and up to 250 where it fills memory
 * beside other tests; quadratic code takes 10,000.
 */
const ratioMax = 500

/** Beginnings of inputs, repeated; each ends with a character that fits nothing. */
const units = [
  ['a', '0', ' ', '*', '-', '.', '_', '/', '\\', '"', '[', '(', ',', ';', '&', '%', '+', '\t', '\n', '`'],
  ['a,', '"a",', '""', '\\"', 'a=1&', '%41', '](', '[a](', '0.', '.0', '1.000', '1,', '1/', 'a b ', '*a'],
  [
    '{"a":',
    'é',
    'e\u0301',
    '-1',
    ':1',
    'a:',
    '@a.',
    'a;q=0.1,',
    '"a',
    '<a',
    '$a',
    '.gz',
    "'",
    '://',
    '1 de ',
  ],
].flat()

const catalog = catalogAround([
  {
    name: 't',
    order: ['n'],
    filters: ['n', 's', 'd'],
    search: ['s'],
    fields: ['n:integer', 's:string', 'd:date'].map(fieldOf),
  },
])
const [table] = allTables(catalog) as [Table]
const [dataset] = [...catalog.datasets.values()] as [Dataset]
const publicUrl = new URL('http://localhost')
const writing = writingOf(catalog, publicUrl)
const setting = contextFor(contextsOf(catalog, publicUrl), 'en')

const query = (parameters: string): unknown => parseRowQuery(table, `/rows/?${parameters}`)
const escaped = encodeURIComponent
const response = { setHeader: () => undefined } as unknown as ServerResponse
const request = (headers: object): IncomingMessage =>
  ({ method: 'GET', headers, socket: { remoteAddress: '::1' } }) as unknown as IncomingMessage
const client = clientOf({ trustProxy: 1, clientIpv6Prefix: 64 })
const packages = (text: string): Parameters<ReturnType<typeof parseSearch>>[0] =>
  ({
    title: text,
    notes: text,
    name: 'n',
    tags: [],
    groups: [],
    resources: [],
    organization: { title: text },
  }) as never
const column = (text: string) => ({
  name: 'c',
  texts: new Map(Array.from({ length: 3 }, (_, n) => [text + n, 1])),
})

const [, texts] = table.fields
if (texts === undefined) throw new Error('there is no field of texts')
const letters = { field: texts, rows: new Float64Array(), bytes: 0 }

const reached: Readonly<Record<string, (text: string) => unknown>> = {
  'a query': query,
  'a list in a query': (text) => query(`s__in=${escaped(text)}`),
  'a condition': (text) => query(`n__range=${escaped(text)}`),
  'an order': (text) => query(`ordering=${escaped(text)}`),
  'fields of a query': (text) => query(`fields=${escaped(text)}`),
  'words of a search': (text) => query(`search=${escaped(text)}`),
  'a list': parseList,
  'a list that is written': (text) => formatList([text]),
  parameters: (text) => parametersOf(`/?${text}`),
  'a misspelt name': (text) => didYouMean(text, ['state', 'city']),
  Accept: (accept) => acceptable({ accept }, [jsonOffer]),
  'Accept-Encoding': acceptedEncodings,
  'Accept-Language': languageFor,
  'a number typed into a page': (text) =>
    ['en', 'pt'].map((locale) => writtenIn({ locale } as Words).typed(text, false)),
  'blanks at the ends': trimBlanks,
  // A dictionary of as many values as the text has characters: quadratic where the text is read for each of them.
  'a text in any case': (text) =>
    selectedCodes(
      { ...letters, values: Array.from(text), folded: Array.from(text) },
      { field: letters.field, operator: 'iexact', values: [text] },
      text,
    ),
  'If-None-Match': (text) => matchingTag(text, ['"a"']),
  Range: (range) => beginRange(request({ range: `bytes=${range}` }), response, '"a"', 1000),
  'X-Forwarded-For': (text) => client(request({ 'x-forwarded-for': text })),
  'a search for packages': (text) => parseSearch([text.slice(0, 4000)]),
  'a text that is searched': (text) => parseSearch(['a*a*a*z "a a" notes:*0*0*'])(packages(text)),
  'an order of packages': parseSort,
  'a name of an organization': (name) =>
    packageOf({ ...writing, catalog: { ...catalog, publisher: { name, url: '' } } }, { dataset, tables: [] }),
  'a page of JSON': (text) => jsonPage(setting, { name: 'n', address: '/', text, isCut: false }),
  'an address that is shown': safeAddress,
  'a text of a page': (text) => textOf(html`<p>${text}</p>`),
  'a citation': (name) => bibtex({ dataset, title: name, address: name, today: '2020-01-01' }),
  'JSON that is written': quotedJson,
  'JSON that is read': parsedJson,
  'a value in YAML': inlineYaml,
  'a comment in YAML': yamlComment,
  'a format of dates': (text) => parseDateFormat(text, 'date'),
  'a pattern of file names': (text) => fileWildcard('a*a*a*a*z')(text),
  'a file name by a long pattern': (text) => fileWildcard(`${'*a'.repeat(20)}z`)(text),
  'fields in a file name': (text) => parseNamePattern('{a}-{b}*{c}.csv')?.read(text),
  'an included file': isBelow,
  'an address of settings': (text) => baseAddress(`http://a/${text}`),
  'a CPF that is hidden': (text) => masks.cpf.hide(text),
  'the size that a server states': (text) => totalOf({ 'content-range': text, 'content-length': text }, 0),
  'Retry-After': pauseOf,
  'a name in an address': (text) => nameIn(new URL(`http://a/${escaped(text)}`)),
  'a path in an address': (text) => pathIn(new URL(`http://a/${escaped(text)}`)),
  'numbers of a column': (text) => numberForm([text]),
  'dates of a column': (text) => momentForm([text]),
  'a column': (text) => suggestField(column(text)),
  'names of columns': (text) => namesFor(text.split(','), true),
  'a name of a table': tableNameFor,
  'a header': (text) => isLikelyHeader(text.split(',')),
  'a CSV': (text) => bestWay(Buffer.from(`a,b\n${text}\n`), true),
  ...Object.fromEntries(
    fieldTypeNames.map((type) => {
      const field = fieldOf(type === 'decimal' ? 'f:decimal:18:2' : `f:${type}`)
      return [`a value of type ${type}`, (text: string) => readValue(field as never, text)]
    }),
  ),
}

/** Returns the CPU time of one call, in microseconds; an error counts as an answer. */
function cost(work: () => unknown): number {
  for (let times = 1; ; times *= 4) {
    const begin = process.cpuUsage()
    for (let time = 0; time < times; time += 1) {
      try {
        work()
      } catch (error) {
        // A refusal is an answer; a fault of the test is none.
        if (error instanceof TypeError) throw error
      }
    }
    const { user, system } = process.cpuUsage(begin)
    if (user + system > 500) return (user + system) / times
  }
}

/** Returns the least ratio of a few tries: other work of the process only adds to it. */
function ratioOf(work: (text: string) => unknown, unit: string): number {
  const input = (length: number): string => `${unit.repeat(Math.ceil(length / unit.length))}\u0001`
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 4 && least > ratioMax; tries += 1) {
    const long = input(100 * shortest)
    const medium = cost(() => work(input(10 * shortest)))
    const short = cost(() => work(input(shortest)))
    // Cubic time shows at ten times the length, before it takes minutes.
    least = Math.min(least, medium > ratioMax * short ? medium / short : cost(() => work(long)) / short)
  }
  return least
}

/** Each run takes other ones. */
const step = isExhaustive ? 1 : isQuick ? 32 : 3
const tried = units.filter((_, index) => (index + seed) % step === 0)

test.each(Object.entries(reached))(
  '%s takes linear time',
  (_name, work) => {
    const slow = tried.flatMap((unit) => {
      const ratio = ratioOf(work, unit)
      return ratio > ratioMax ? [`${JSON.stringify(unit)} repeated: ${Math.round(ratio)} times as long`] : []
    })
    expect(slow).toEqual([])
  },
  120_000,
)
