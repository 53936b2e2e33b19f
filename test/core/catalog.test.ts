import { readFile } from 'node:fs/promises'
import { fieldTypeNames } from '../../core/catalog/field-types.ts'
import { catalogJsonSchema, type Catalog } from '../../core/catalog/catalog.ts'
import { CatalogError, loadCatalog, parseCatalog } from '../../core/catalog/load.ts'
import { StartError } from '../../core/errors.ts'
import { specTables } from './spec-tables.ts'

let catalog: Catalog
beforeAll(async () => {
  catalog = await loadCatalog('catalog.yaml')
})

describe('catalog.yaml', () => {
  test('declares every dataset, table and field of the spec, in its order and with its type', () => {
    const declared = [...catalog.datasets.values()].map((dataset) => ({
      slug: dataset.slug,
      tables: [...dataset.tables.values()].map((table) => ({
        name: table.name,
        fields: table.fields.map((field) => `${field.name}:${field.type}`),
      })),
    }))
    expect(declared).toEqual(specTables)
  })

  test('gives each dataset the number of links that the spec states', () => {
    const links = Object.fromEntries(
      [...catalog.datasets].map(([slug, dataset]) => [slug, dataset.links.length]),
    )
    expect(links).toEqual({
      covid19: 30,
      'eleicoes-brasil': 1,
      'gastos-diretos': 1,
      'gastos-deputados': 1,
      'socios-brasil': 2,
      'cursos-prouni': 0,
      'genero-nomes': 0,
      'salarios-magistrados': 3,
      govbr: 0,
      'balneabilidade-bahia': 0,
      'documentos-brasil': 0,
    })
  })

  test('orders the tables whose order the spec states as the spec does', () => {
    const tables = catalog.datasets.get('covid19')?.tables
    const order = (name: string) =>
      tables?.get(name)?.order.map(({ field, direction }) => `${field} ${direction}`)
    expect(order('boletim')).toEqual(['date desc', 'state asc'])
    expect(order('obito_cartorio')).toEqual(['date desc', 'state asc'])
    expect(order('caso_full')).toEqual(['date asc', 'state asc', 'city_ibge_code asc'])
  })

  test('says that personal tax identifiers in documentos-brasil are obfuscated', () => {
    expect(catalog.datasets.get('documentos-brasil')?.description).toMatch(/CPF.*ofuscados.*privacidade/)
  })

  test('is deeply frozen', () => {
    expect(() => Object.assign(catalog.limits.rows[0] as object, { requests: 1 })).toThrow(TypeError)
    expect(() =>
      Object.assign(catalog.datasets.get('covid19')?.tables.get('caso')?.fields[0] as object, { name: 'x' }),
    ).toThrow(TypeError)
  })

  test('has a JSON Schema that is up to date (`npm run schema` writes it)', async () => {
    const written: unknown = JSON.parse(await readFile('core/catalog/catalog.schema.json', 'utf8'))
    expect(written).toEqual(JSON.parse(JSON.stringify(catalogJsonSchema())))
  })
})

const good = `title: T
description: D
notice: Sparingly.
limits:
  rows: [{ requests: 60, per: 1m }]
  catalog: []
families:
  v1: { prefix: /api/v1, scheme: http, trailing_slash: true }
datasets:
  - slug: d
    name: D
    description: D
    author: { name: A, url: 'https://example.org' }
    source: { name: A, url: 'https://example.org' }
    license: { name: A, url: 'https://example.org' }
    code_url: https://example.org
    listed_in: [v1]
    collected_at: 2020-02-29
    links: []
    tables:
      - name: t
        order: [date desc, city]
        filters: [date]
        search: [city]
        fields:
          - { name: date, type: date }
          - { name: city, type: string }
          - { name: value, type: decimal, precision: 10, scale: 3 }
`

function catalogErrorOf(text: string): CatalogError | null {
  try {
    parseCatalog(text, 'c.yaml')
    return null
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return error
  }
}

const faultsOf = (text: string): string[] => catalogErrorOf(text)?.message.split('\n').slice(1) ?? []

describe('the loader', () => {
  test('takes a catalog that is right', () => {
    expect(faultsOf(good)).toEqual([])
  })

  // Each row changes one place of the right catalog.
  test.each<[what: string, from: string, to: string, faults: unknown[]]>([
    [
      'an unknown key',
      'title: T',
      'title: T\ntitel: X',
      [
        'c.yaml:2:1: unknown key "titel" (did you mean "title"?); known here: title, description, notice, about, publisher, contact, logo, colours, limits, families, engine, include, datasets',
      ],
    ],
    [
      'a key of a dataset in a table',
      'filters:',
      'frequency: daily\n        filters:',
      [
        expect.stringMatching(
          /^c\.yaml:23:9: unknown key "frequency", which is a key of a dataset; known here: name, /,
        ),
      ],
    ],
    [
      'a key of a source in a table',
      'filters:',
      'delimiter: ";"\n        filters:',
      [
        expect.stringMatching(
          /^c\.yaml:23:9: unknown key "delimiter", which is a key of the `source` of a table; known/,
        ),
      ],
    ],
    [
      'an unknown key deep inside',
      'type: date }',
      'type: date, sorted: 1 }',
      [
        'c.yaml:26:39: unknown key "sorted"; known here: name, type, title, description, synonyms, unit, kind, value_titles, precision, scale, trim, nulls, decimal, groups, marks, minus, booleans, timezone, two_digit_years_from, factor, separator, format, mask, expect',
      ],
    ],
    [
      'a limit of searches, which share the budget now',
      '  catalog: []\n',
      '  catalog: []\n  scans: []\n',
      ['c.yaml:7:3: "scans" is not used any more, since searching for rows is limited by `share`: remove it'],
    ],
    [
      'a missing key',
      '    collected_at: 2020-02-29\n',
      '',
      ['c.yaml:10:5: the key "collected_at" is missing'],
    ],
    [
      'a number where text belongs',
      'name: city, type',
      'name: 012, type',
      ['c.yaml:27:21: "name" must be text; YAML reads 012 as 12: write it in quotes, "012"'],
    ],
    [
      'a word where a truth value belongs',
      'trailing_slash: true',
      'trailing_slash: yes',
      [
        'c.yaml:8:56: "trailing_slash" must be true or false; YAML reads yes as text: remove the quotes, if it has any',
      ],
    ],
    [
      'a number in a list of texts',
      'filters: [date]',
      'filters: [date, 12]',
      ['c.yaml:23:25: item 2 of "filters" must be text; YAML reads 12 as 12: write it in quotes, "12"'],
    ],
    [
      'a number where text or a list belongs',
      'filters: [date]',
      'source: { files: 12 }',
      ['c.yaml:23:26: "files" must be text or a list; YAML reads 12 as 12: write it in quotes, "12"'],
    ],
    [
      'an empty text where text or a list belongs',
      'filters: [date]',
      "source: { files: '' }",
      ['c.yaml:23:26: "files" is "", and must not be empty'],
    ],
    [
      'an empty list where text or a list belongs',
      'filters: [date]',
      'source: { files: [] }',
      ['c.yaml:23:26: "files" is [], and must list at least one file'],
    ],
    [
      'a number in a list that may be a text',
      'filters: [date]',
      'source: { files: [a.csv, 12] }',
      [
        'c.yaml:23:34: item 2 of "files" must be text or a map of keys and values; YAML reads 12 as 12: write it in quotes, "12"',
      ],
    ],
    [
      'a list where a map belongs',
      "license: { name: A, url: 'https://example.org' }",
      'license: [A]',
      ['c.yaml:15:14: "license" must be a map of keys and values, and is a list'],
    ],
    [
      'nothing where a list belongs',
      'links: []',
      'links:',
      ['c.yaml:19:11: "links" must be a list; YAML reads nothing as null'],
    ],
    [
      'an unknown type',
      'type: string',
      'type: strng',
      [
        `c.yaml:27:33: "type" is "strng", which is not one of ${fieldTypeNames.join(', ')} (did you mean "string"?)`,
      ],
    ],
    [
      'a field twice',
      'name: value, type',
      'name: city, type',
      ['c.yaml:28:21: field name "city" appears twice: each must be unique'],
    ],
    [
      'a field that differs only in case',
      'name: value, type',
      'name: City, type',
      ['c.yaml:28:21: field name "City" differs from "city" only in case: rename one of them'],
    ],
    [
      'a field name that JavaScript loses',
      'name: value, type',
      'name: __proto__, type',
      ['c.yaml:28:21: JSON readers in JavaScript drop "__proto__": choose another name'],
    ],
    [
      'a field name that looks like a number',
      'name: value, type',
      "name: '2020', type",
      [
        'c.yaml:28:21: "2020" looks like a number, and some JSON readers reorder such keys: start it with a letter',
      ],
    ],
    [
      'a field name that cannot be ordered by',
      'name: value, type',
      'name: -city, type',
      [
        'c.yaml:28:21: "-city" begins with "-", which means descending order by "city" in requests: choose another name',
      ],
    ],
    [
      'a field name that reads as an operator of another field, which it comes before',
      'name: value, type',
      'name: city__gt, type',
      [],
    ],
    ['an operator of no field', 'name: value, type', 'name: town__gt, type', []],
    ['what is no operator of a field', 'name: value, type', 'name: city__name, type', []],
    ['a field name with a comma', 'name: value, type', "name: 'a,\"b', type", []],
    ...['/files', '/files/x', '/health', '/health/x/y'].map((prefix): [string, string, string, string[]] => [
      `a family at ${prefix}`,
      'prefix: /api/v1',
      `prefix: ${prefix}`,
      [
        `c.yaml:8:17: "${prefix}" is used for ${prefix.startsWith('/files') ? 'files' : 'the state of the service'}: choose another, such as /api/v1`,
      ],
    ]),
    ...['/api/v1/dataset', '/api/v1/datasets', '/api/v1/dataset/d'].map(
      (prefix): [string, string, string, string[]] => [
        `a family at ${prefix}`,
        'datasets:\n',
        `  v2: { prefix: ${prefix}, scheme: http, trailing_slash: true }\ndatasets:\n`,
        [`c.yaml:9:17: "${prefix}" is below the addresses of datasets at /api/v1: choose another prefix`],
      ],
    ),
    ...['/file', '/filesystem', '/healthy', '/api', '/api/v1/data', '/x/files'].map(
      (prefix): [string, string, string, string[]] => [
        `that a family may lie at ${prefix}`,
        'datasets:\n',
        `  v2: { prefix: ${prefix}, scheme: http, trailing_slash: true }\ndatasets:\n`,
        [],
      ],
    ),
    [
      'a field name of DuckDB',
      'name: value, type',
      'name: file_row_number, type',
      [`c.yaml:28:21: "file_row_number" is reserved for the position of a row: choose another name`],
    ],
    [
      'a field name with a control character',
      'name: value, type',
      'name: "a\\u0000b", type',
      ['c.yaml:28:21: "a\u0000b" has a control character, or white space at its start or end: remove it'],
    ],
    [
      'an order by a field that is not there',
      'date desc',
      'dates desc',
      ['c.yaml:22:17: there is no field "dates" (did you mean "date"?); known: date, city, value'],
    ],
    [
      'an order with another word',
      'date desc',
      'date down',
      ['c.yaml:22:17: "down" is not a direction: write "date asc" or "date desc"'],
    ],
    [
      'an order by a field twice',
      'date desc, city',
      'date desc, date',
      ['c.yaml:22:28: order field "date" appears twice: each must be unique'],
    ],
    [
      'a filter on a field that is not there',
      'filters: [date]',
      'filters: [dat]',
      ['c.yaml:23:19: there is no field "dat" (did you mean "date"?); known: date, city, value'],
    ],
    [
      'another order by a field that is not there',
      'search: [city]',
      'orders: [[-dat]]',
      ['c.yaml:24:19: there is no field "dat" (did you mean "date"?); known: date, city, value'],
    ],
    [
      'another order by a field without codes',
      'search: [city]',
      'orders: [[-date], [date, value]]',
      [
        'c.yaml:24:34: "value" is not in `filters`, so it has no codes to order by: add it there, or remove it from `orders`',
      ],
    ],
    [
      'another order by a field twice',
      'search: [city]',
      'orders: [[-date, date]]',
      ['c.yaml:24:26: order field "date" appears twice: each must be unique'],
    ],
    [
      'another order of nothing',
      'search: [city]',
      'orders: [[]]',
      ['c.yaml:24:18: item 1 of "orders" is [], and it must name a field'],
    ],
    [
      'rows together, which are not stored any more',
      'search: [city]',
      'clustered: [city]',
      ['c.yaml:24:9: "clustered" is not used any more, since pages are read from the row store: remove it'],
    ],
    [
      'a partition by a field that is not there',
      'search: [city]',
      'partition: dat',
      ['c.yaml:24:20: there is no field "dat" (did you mean "date"?); known: date, city, value'],
    ],
    [
      'a partition by a field that does not lead the order, of one file',
      'search: [city]',
      'partition: city',
      [
        'c.yaml:24:20: "city" must be the first field of the order, so that the rows of a partition are adjacent',
        'c.yaml:24:20: "partition" needs several source files: list them in source.files',
      ],
    ],
    [
      'a search in a field without text',
      'search: [city]',
      'search: [value]',
      ['c.yaml:24:18: "value" cannot be searched: only fields of type string or text can'],
    ],
    [
      'a table twice',
      '      - name: t\n',
      '      - { name: t, order: [], fields: [{ name: x, type: text }] }\n      - name: t\n',
      ['c.yaml:22:15: table name "t" appears twice: each must be unique'],
    ],
    [
      'a dataset twice',
      'datasets:\n',
      "datasets:\n  - { slug: d, name: D, description: D, author: { name: A, url: 'https://x.org' }, source: { name: A, url: 'https://x.org' }, license: { name: A, url: 'https://x.org' }, code_url: 'https://x.org', listed_in: [], collected_at: 2020-01-01, links: [], tables: [] }\n",
      ['c.yaml:11:11: dataset slug "d" appears twice: each must be unique'],
    ],
    [
      'a slug that is no path',
      'slug: d',
      'slug: ../d',
      [
        'c.yaml:10:11: "slug" is "../d", and must be lower-case letters, digits, - and _, starting with a letter or digit',
      ],
    ],
    [
      'a date that is not in the calendar',
      '2020-02-29',
      '2021-02-29',
      ['c.yaml:18:19: "collected_at" is "2021-02-29", and must be a calendar date as YYYY-MM-DD'],
    ],
    [
      'an address without a scheme',
      'code_url: https://example.org',
      'code_url: example.org',
      [
        'c.yaml:16:15: "code_url" is "example.org", and must be a full address that starts with http:// or https://',
      ],
    ],
    [
      'an unknown time zone',
      'links: []',
      'links: []\n    timezone: Brazil/Rio',
      [
        'c.yaml:20:15: "timezone" is "Brazil/Rio", and must be a time zone by its IANA name, such as America/Sao_Paulo or UTC',
      ],
    ],
    [
      'an unknown family',
      'listed_in: [v1]',
      'listed_in: [v2]',
      ['c.yaml:17:17: there is no family "v2" (did you mean "v1"?); known: v1'],
    ],
    [
      'a family name that is no name',
      'families:\n',
      'families:\n  __proto__: { prefix: /x, scheme: http, trailing_slash: true }\n',
      ['c.yaml:8:3: JSON readers in JavaScript drop "__proto__": choose another name'],
    ],
    [
      'a family name with capital letters',
      'families:\n',
      'families:\n  V2: { prefix: /x, scheme: http, trailing_slash: true }\n',
      ['c.yaml:8:7: the family name "V2" must be lower-case letters, digits, - and _, letter first'],
    ],
    [
      'an override of an unknown family',
      'links: []',
      'links: []\n    overrides: { v3: { data_slash: true } }',
      ['c.yaml:20:22: there is no family "v3" (did you mean "v1"?); known: v1'],
    ],
    [
      'digits of a field without a fraction',
      'type: string',
      'type: string, scale: 2',
      ['c.yaml:27:48: "scale" applies only to fields of type decimal: remove it, or make the type decimal'],
    ],
    [
      'more digits after the point than in all',
      'scale: 3',
      'scale: 10',
      ['c.yaml:28:65: scale 10 must be less than precision 10, the total number of digits'],
    ],
    [
      'a window that is none',
      'per: 1m',
      'per: 1 min',
      ['c.yaml:5:31: "per" is "1 min", and must be a span of time such as 30s, 1m, 1h or 1d'],
    ],
    [
      'a text in a language that pages are not in',
      'title: T',
      'title: { pt: T, fr: T }',
      ['c.yaml:1:17: unknown key "fr"; known here: pt, en'],
    ],
    [
      'a text in no language',
      'title: T',
      'title: {}',
      ['c.yaml:1:8: "title" is {}, and must be given in at least one language'],
    ],
    [
      'a notice that cannot travel in a header',
      'notice: Sparingly.',
      'notice: { pt: 注意, en: Take care }',
      [
        'c.yaml:3:9: "notice" is {"pt":"注意","en":"Take care"}, and must be one line of Latin letters in the first language, which is sent in an HTTP header without accents: begin with another language, such as { en: Be gentle, pt: Vá com calma }',
      ],
    ],
    [
      'a colour that nobody can read',
      'title: T',
      'title: T\ncolours: { light: "#ffee00", dark: "red" }',
      [
        'c.yaml:2:19: "light" is "#ffee00", and has too little contrast on a light page: take a darker one',
        'c.yaml:2:36: "dark" is "red", and must be a colour such as "#0a6b57", in quotes, in lower case',
      ],
    ],
    [
      'a frequency that is none',
      'links: []',
      'links: []\n    frequency: dayly',
      [
        'c.yaml:20:16: "frequency" is "dayly", which is not one of continuous, daily, weekly, monthly, quarterly, annual, irregular, never (did you mean "daily"?)',
      ],
    ],
    [
      'what harvesters ask of a dataset, in forms that they do not read',
      'links: []',
      [
        'links: []',
        'themes: [HEALTH]',
        'contact: { name: N }',
        'publisher: { name: N, url: example.org }',
        'spatial: { name: N, bbox: [0, 50, 10, 40] }',
        'temporal: { start: 2021-01-01, end: 2020-01-01 }',
        'language: [portuguese]',
      ].join('\n    '),
      [
        'c.yaml:20:14: item 1 of "themes" is "HEALTH", which is not one of AGRI, ECON, EDUC, ENER, ENVI, GOVE, HEAL, INTR, JUST, REGI, SOCI, TECH, TRAN',
        'c.yaml:21:14: "contact" is {"name":"N"}, and must have an email or a url',
        'c.yaml:22:32: "url" is "example.org", and must be a full address that starts with http:// or https://',
        'c.yaml:23:31: "bbox" is [0,50,10,40], and must be west, south, east and north in degrees, such as [-74.0, -33.8, -34.8, 5.3]',
        'c.yaml:24:15: "temporal" is {"start":"2021-01-01","end":"2020-01-01"}, and must not end before it starts',
        'c.yaml:25:16: item 1 of "language" is "portuguese", and must be a language by its BCP 47 tag, such as pt or pt-BR',
      ],
    ],
    [
      'a measure that is no number',
      'filters:',
      'measures: [city]\n        filters:',
      ['c.yaml:23:20: "city" cannot be summed exactly: only fields of type integer or decimal can'],
    ],
    [
      'a chart of no field, no part of dates and no function',
      'filters:',
      'chart: { group: [city__week, date__weak], measure: value__total }\n        filters:',
      [
        'c.yaml:23:26: "city" has no dates, so it has no week',
        'c.yaml:23:38: there is no field "date__weak"; known: date, city, value',
        'c.yaml:23:60: "value__total" is not a measure: write rows, or a field and a function, such as date__count',
      ],
    ],
    [
      'a chart of the sum of texts',
      'filters:',
      'chart: { group: [city], measure: city__sum }\n        filters:',
      ['c.yaml:23:42: "city" has no numbers, so it has no sum'],
    ],
    [
      'a time of no field',
      'filters:',
      'time: day\n        filters:',
      ['c.yaml:23:15: there is no field "day"; known: date, city, value'],
    ],
    [
      'a time of a text',
      'filters:',
      'time: city\n        filters:',
      ['c.yaml:23:15: "city" has no times: choose dates, or integers such as 2020 or 202006'],
    ],
    [
      'a default filter of no field, of no value and of no filter',
      'filters:',
      'default_filter: { cities: x, date: soon }\n        filters:',
      [
        'c.yaml:23:35: there is no field "cities"; known: date, city, value',
        'c.yaml:23:44: "soon" is not a value of "date", whose type is date',
      ],
    ],
    [
      'totals of no text and of no field',
      'filters:',
      'totals: { value: "1", cities: x }\n        filters:',
      [
        'c.yaml:23:26: "value" cannot mark totals: only fields of type string or text can',
        'c.yaml:23:39: there is no field "cities"; known: date, city, value',
      ],
    ],
    [
      'a kind of a number',
      'scale: 3',
      'scale: 3, kind: uf',
      ['c.yaml:28:74: "kind" applies only to fields of type string or text: change the type'],
    ],
    [
      'titles of values that are decimals',
      'scale: 3',
      'scale: 3, value_titles: { "1": one }',
      ['c.yaml:28:82: "value_titles" applies only to fields of type string or text or integer: remove it'],
    ],
    [
      'one sign for two things',
      'type: decimal,',
      'type: decimal, groups: ".",',
      [
        'c.yaml:28:51: "." cannot be both "decimal" (by default ".") and "groups": declare a different character for each',
      ],
    ],
    [
      'one sign for two things in a table',
      'search: [city]',
      "source: { decimal: ',', groups: ',' }",
      [
        'c.yaml:24:41: "," cannot be both "decimal" (by default ".") and "groups": declare a different character for each',
      ],
    ],
    [
      'columns that are left out, and needed',
      'search: [city]',
      'source: { rename: { Cidade: city, Valor: value }, ignore: [value, date, Cidade, other] }',
      [
        'c.yaml:24:75: "date" is also a field, which has no other column: remove the field, or "date" from "ignore"',
        'c.yaml:24:81: "Cidade" is in "rename", so it cannot be ignored: remove it from "rename" or from "ignore"',
      ],
    ],
    [
      'a column that is left out twice before one that is a field',
      'search: [city]',
      'source: { ignore: [x, x, date] }',
      [
        'c.yaml:24:34: "date" is also a field, which has no other column: remove the field, or "date" from "ignore"',
      ],
    ],
    [
      'a header named __proto__ with an escape',
      'search: [city]',
      'source: { rename: { "\\u005f_proto__": city } }',
      ['c.yaml:24:29: JSON readers in JavaScript drop "__proto__": choose another name'],
    ],
    [
      'a column that is left out, and a constant in its place',
      'search: [city]',
      'source: { constants: { city: Lima }, ignore: [city], rename: { a: b } }',
      ['c.yaml:24:75: there is no field "b"; known: date, city, value'],
    ],
    [
      'a name of files that tells nothing',
      'search: [city]',
      'source: { from_name: "x.csv" }',
      [
        'c.yaml:24:30: "x.csv" must have a field in braces, such as "yob{year}.csv"; each field may occur once, with text between any two',
      ],
    ],
    [
      'a name of files that tells no field',
      'search: [city]',
      'source: { from_name: "{citi}.csv" }',
      ['c.yaml:24:30: there is no field "citi" (did you mean "city"?); known: date, city, value'],
    ],
    [
      'a name of files that cannot be cut',
      'search: [city]',
      'source: { from_name: "{date}{city}.csv" }',
      [
        'c.yaml:24:30: "{date}{city}.csv" must have a field in braces, such as "yob{year}.csv"; each field may occur once, with text between any two',
      ],
    ],
    [
      'what is given twice',
      'search: [city]',
      'source: { constants: { city: x }, from_name: "{city}.csv", files: [{ path: a.csv, constants: { city: y } }] }',
      [
        'c.yaml:24:54: "city" already has a value from "constants" or "from_name" of the source: remove one of the two',
        'c.yaml:24:110: "city" already has a value from "constants" or "from_name" of the source: remove one of the two',
      ],
    ],
    [
      'constants of files that are no fields, and files that lie elsewhere',
      'search: [city]',
      'source: { files: [{ path: ../a.csv, constants: { citi: y } }] }',
      [
        'c.yaml:24:35: "../a.csv" must be below SOURCES: it must not start with / or contain ..',
        'c.yaml:24:64: there is no field "citi" (did you mean "city"?); known: date, city, value',
      ],
    ],
    [
      'a header line without names for all its columns',
      'search: [city]',
      "source: { header: [a], header_in_file: ['A', ''] }",
      ['c.yaml:24:48: "header_in_file" needs "header" with the same number of names, one for each column'],
    ],
    [
      'comments that begin as rows do',
      'search: [city]',
      "source: { comment: '\"' }",
      [
        'c.yaml:24:28: """ as "comment" would also match rows that begin with a delimiter or quote: declare a text that begins only comments',
      ],
    ],
    [
      'a NUL in a regular expression',
      'type: decimal,',
      'type: decimal, expect: { matches: "a\\0b" },',
      [
        'c.yaml:28:62: "matches" contains a NUL, which no regular expression may have: remove it',
        'c.yaml:28:62: "matches" applies only to fields of type string or text: remove it',
      ],
    ],
    [
      'expectations of fields with other types, and bounds that are no values',
      'type: decimal,',
      'type: decimal, expect: { matches: "[0-9]+", between: [1.5, x] },',
      [
        'c.yaml:28:62: "matches" applies only to fields of type string or text: remove it',
        'c.yaml:28:87: "x" is no bound: expected a decimal number with at most 7 digits before and 3 after the point, such as -12.50',
      ],
    ],
    [
      'bounds in the wrong order',
      'type: decimal,',
      'type: decimal, expect: { between: [2, 1] },',
      ['c.yaml:28:62: the bounds 2.000 and 1.000 exclude every value: exchange them'],
    ],
    [
      'a lone bound',
      'type: decimal,',
      'type: decimal }\n          - { name: n, type: integer, expect: { between: [1] } }\n          - { name: m, type: decimal,',
      [
        'c.yaml:29:58: "between" is [1], and must be a list of two bounds, such as [0, 100]; null is an open end',
      ],
    ],
    [
      'references to nothing',
      'type: string',
      'type: string, expect: { references: d/u.code } }\n          - { name: more, type: string, expect: { references: city } }\n          - { name: other, type: string, expect: { references: d/t.date }',
      [
        'c.yaml:27:63: there is no table "d/u" (did you mean "d/t"?); known: d/t',
        'c.yaml:28:63: "city" is not a field of a table: write dataset/table.field, such as places/states.code',
        'c.yaml:29:64: "date" has the type date, and this field string: give both the same type',
      ],
    ],
    [
      'a key of unknown fields',
      'filters:',
      'expect: { unique: [[date, citi]] }\n        filters:',
      ['c.yaml:23:35: there is no field "citi" (did you mean "city"?); known: date, city, value'],
    ],
    [
      'tables that wait for each other',
      '      - name: t',
      [
        '      - name: u',
        '        order: []',
        '        fields: [{ name: x, type: string, expect: { references: d/v.y } }]',
        '      - name: v',
        '        order: []',
        '        fields: [{ name: y, type: string, expect: { references: d/u.x } }]',
        '      - name: t',
      ].join('\n'),
      ['c.yaml:26:65: d/v and d/u wait for each other, so neither can be published: remove one reference'],
    ],
    [
      'a factor that is no power of ten',
      'type: decimal,',
      'type: decimal, factor: 3,',
      ['c.yaml:28:51: "factor" is "3", and must be a power of ten, such as 0.01 for cents'],
    ],
    [
      'a mark of digits',
      'type: decimal,',
      'type: decimal, marks: ["1x"],',
      [
        `c.yaml:28:51: item 1 of "marks" is "1x", and must be a symbol such as "R$", "%", "+" or "()", without spaces, digits, ".", ",", apostrophes or minus signs`,
      ],
    ],
    ...['−', '–', '-', '－', '(', '($', '−$'].map((sign): [string, string, string, string[]] => [
      `a mark with the sign ${sign}`,
      'type: decimal,',
      `type: decimal, marks: ["${sign}"],`,
      [
        `c.yaml:28:51: item 1 of "marks" is "${sign}", and must be a symbol such as "R$", "%", "+" or "()", without spaces, digits, ".", ",", apostrophes or minus signs`,
      ],
    ]),
    [
      'a format of several that is none',
      'type: date }',
      'type: date, format: [dd/mm/yyyy, dd/mm] }',
      [
        'c.yaml:26:60: "dd/mm" is not a format of a date: write it with yyyy, mm, dd, hh, mm, ss, such as dd/mm/yyyy',
      ],
    ],
    [
      'a format twice',
      'type: date }',
      'type: date, format: [dd/mm/yyyy, dd/mm/yyyy] }',
      ['c.yaml:26:60: format "dd/mm/yyyy" appears twice: each must be unique'],
    ],
    [
      'a date with hours',
      'type: date }',
      'type: date, format: "dd/mm/yyyy hh:mm" }',
      [
        'c.yaml:26:47: "dd/mm/yyyy hh:mm" is not a format of a date: write it with yyyy, mm, dd, hh, mm, ss, such as dd/mm/yyyy',
      ],
    ],
    [
      'a time of day with days',
      'search: [city]',
      'source: { time: "dd hh:mm" }',
      ['c.yaml:24:25: "dd hh:mm" is not a format of a time: write it with hh, mm, ss, such as hh:mm'],
    ],
    [
      'readings of other types',
      'type: string }',
      'type: string, decimal: ",", factor: 10, booleans: { "true": [S], "false": [N] }, timezone: UTC }',
      [
        'c.yaml:27:50: "decimal" applies only to fields of type float or decimal or point: remove it',
        'c.yaml:27:63: "factor" applies only to fields of type integer or float or decimal: remove it',
        'c.yaml:27:77: "booleans" applies only to fields of type bool: remove it',
        'c.yaml:27:118: "timezone" applies only to fields of type datetime: remove it',
      ],
    ],
    [
      'a key twice',
      'title: T',
      'title: T\ntitle: U',
      ['c.yaml:2:1: the key "title" is given twice: remove one of them'],
    ],
    [
      'a tab that YAML refuses',
      '  rows:',
      '\trows:',
      ['c.yaml:5:1: Tabs are not allowed as indentation: replace the tabs by blanks'],
    ],
    [
      'a text with a colon',
      'title: T',
      'title: T: U',
      [
        'c.yaml:1:8: Nested mappings are not allowed in compact mappings: put a text that contains a colon and a blank in quotes, or correct the indent',
      ],
    ],
    [
      'a text with a comma in braces',
      'type: string }',
      'type: string, title: Órgão, pagador }',
      [
        'c.yaml:27:55: unknown key "pagador"; put a text that contains a comma in quotes; known here: name, type, title, description, synonyms, unit, kind, value_titles, precision, scale, trim, nulls, decimal, groups, marks, minus, booleans, timezone, two_digit_years_from, factor, separator, format, mask, expect',
      ],
    ],
    [
      'a text with a colon in braces',
      'type: string }',
      'type: string, title: Órgão: pagador }',
      [
        'c.yaml:27:48: Block collections are not allowed within flow collections: put a text that contains a colon and a blank in quotes',
      ],
    ],
    [
      'a key with a blank too few',
      '  rows:',
      ' rows:',
      ['c.yaml:6:1: All mapping items must start at the same column'],
    ],
    ['an unknown tag', 'title: T', 'title: !secret T', ['c.yaml:1:8: Unresolved tag: !secret']],
    [
      'a rename to a field that is not there',
      'filters: [date]',
      'source: { rename: { data: dat } }',
      ['c.yaml:23:35: there is no field "dat" (did you mean "date"?); known: date, city, value'],
    ],
  ])('tells %s with its place', (_what, from, to, faults) => {
    expect(good).toContain(from)
    expect(faultsOf(good.replace(from, to))).toEqual(faults)
  })

  test('tells that the file is empty', () => {
    expect(faultsOf('')).toEqual([
      'c.yaml:1:1: is empty: it must hold title, description, notice, about, publisher, contact, logo, colours, limits, families, engine, include, datasets',
    ])
  })

  test('has its texts in the languages that they are given in, and else in the first', () => {
    const said = parseCatalog(
      good
        .replace('title: T', 'title: { pt: Título, en: Title }')
        .replace('name: city, type: string', 'name: city, type: string, title: { en: City }'),
      'c.yaml',
    )
    const [pt, en] = [said.inLanguage.get('pt'), said.inLanguage.get('en')]
    expect([said.title, pt?.title, en?.title]).toEqual(['Título', 'Título', 'Title'])
    expect([titlesIn(said), titlesIn(pt), titlesIn(en)]).toEqual([['City'], ['City'], ['City']])
  })

  test('tells all faults at once, in the order of the file', () => {
    const other =
      '{ name: u, order: [day], fields: [{ name: x, type: text, expect: { references: d/v.y } }] }'
    const bad = good
      .replace('title: T', 'title: 1')
      .replace('/api/v1', '/files')
      .replace('slug: d', 'slug: d d')
      .replace('listed_in: [v1]', 'listed_in: [v2]')
      .replace('type: string', 'type: str')
      .replace('      - name: t', `      - ${other}\n      - name: t`)
    // The rules of a part wait until its shape is right, such as `listed_in` of the dataset.
    expect(faultsOf(bad).map((line) => line.split(': ')[0])).toEqual([
      'c.yaml:1:8',
      'c.yaml:8:17',
      'c.yaml:10:11',
      'c.yaml:21:28',
      'c.yaml:21:88',
      'c.yaml:28:33',
    ])
  })

  test('tells fifty faults, and how many more there are, but keeps all', () => {
    const fields = Array.from({ length: 1200 }, () => '          - { name: 12, type: text }\n').join('')
    const told = faultsOf(good + fields)
    expect([told.length, told.at(-2), told.at(-1)]).toEqual([
      51,
      'c.yaml:78:21: "name" must be text; YAML reads 12 as 12: write it in quotes, "12"',
      'and 1,150 more',
    ])
    const error = catalogErrorOf(good + fields)
    expect([error?.faults.length, error?.message.split('\n')[0]]).toEqual([1200, 'c.yaml has 1,200 errors:'])
    const file = 'a list, no map'
    expect(faultsOf(`- ${file}`)).toEqual([
      'c.yaml:1:1: the file must be a map of keys and values, and is a list',
    ])
  })

  test('does not follow aliases without end', () => {
    const bomb = `a: &a [1]\n${'bcdefgh'
      .split('')
      .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index] ?? ''},`.repeat(9)}]`)
      .join('\n')}`
    expect(faultsOf(bomb)[0]).toMatch(/the file cannot be read as YAML: Excessive alias count/)
  })

  test('tells a file that is not there, and which setting names it', async () => {
    await expect(loadCatalog('no/such.yaml')).rejects.toThrow(StartError)
    await expect(loadCatalog('no/such.yaml')).rejects.toThrow('set CATALOG to the path of a catalog.yaml')
  })
})

/** Returns the titles of all fields that have one. */
function titlesIn(texts: Pick<Catalog, 'datasets'> | undefined): string[] {
  return [...(texts?.datasets.values() ?? [])].flatMap(({ tables }) =>
    [...tables.values()].flatMap(({ fields }) => fields.flatMap(({ title }) => title ?? [])),
  )
}
