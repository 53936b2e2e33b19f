import { testFaults } from './right-catalog.ts'

/** Faults in what `catalog.yaml` expects of the data. */

// Expectations, keys and references.
testFaults([
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
])
