import { fieldTypeNames } from '../../../core/catalog/field-types.ts'
import { type Fault, testFaults } from './right-catalog.ts'

/** Faults in the names of `catalog.yaml`. */

// Names, addresses, dates and other values of datasets, families and fields.
testFaults([
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
  ...['/files', '/files/x', '/health', '/health/x/y'].map((prefix): Fault => [
    `a family at ${prefix}`,
    'prefix: /api/v1',
    `prefix: ${prefix}`,
    [
      `c.yaml:8:17: "${prefix}" is used for ${prefix.startsWith('/files') ? 'files' : 'the state of the service'}: choose another, such as /api/v1`,
    ],
  ]),
  ...['/api/v1/dataset', '/api/v1/datasets', '/api/v1/dataset/d'].map((prefix): Fault => [
    `a family at ${prefix}`,
    'datasets:\n',
    `  v2: { prefix: ${prefix}, scheme: http, trailing_slash: true }\ndatasets:\n`,
    [`c.yaml:9:17: "${prefix}" is below the addresses of datasets at /api/v1: choose another prefix`],
  ]),
  ...['/file', '/filesystem', '/healthy', '/api', '/api/v1/data', '/x/files'].map((prefix): Fault => [
    `that a family may lie at ${prefix}`,
    'datasets:\n',
    `  v2: { prefix: ${prefix}, scheme: http, trailing_slash: true }\ndatasets:\n`,
    [],
  ]),
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
])
