import { type Fault, testFaults } from './right-catalog.ts'

/** Faults in what `catalog.yaml` says of sources. */

// Ways to read sources: columns, names of files, signs and formats.
testFaults([
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
  ...['−', '–', '-', '－', '(', '($', '−$'].map((sign): Fault => [
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
    'a rename to a field that is not there',
    'filters: [date]',
    'source: { rename: { data: dat } }',
    ['c.yaml:23:35: there is no field "dat" (did you mean "date"?); known: date, city, value'],
  ],
])
