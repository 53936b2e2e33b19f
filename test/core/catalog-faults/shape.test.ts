import { testFaults } from './right-catalog.ts'

/** Faults in the structure of `catalog.yaml`: unknown keys, types and values. */

// Catalogs that are no YAML, or have wrong keys or kinds of values.
testFaults([
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
  ['a missing key', '    collected_at: 2020-02-29\n', '', ['c.yaml:10:5: the key "collected_at" is missing']],
  [
    'a missing key of a license',
    "license: { name: A, url: 'https://example.org' }",
    'license: { name: A }',
    ['c.yaml:15:14: the key "url" of "license" is missing'],
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
])
