import { parse } from 'yaml'
import iconv from 'iconv-lite'
import { whatCame } from './support/declared.ts'
import { testSampled } from '../support/runs.ts'
import { entryOf, suggestion } from './support/suggested.ts'

/** Each remedy that `add`, `suggest` or `ingest` prints, applied as printed, gives the right rows. */

type Keys = Readonly<Record<string, unknown>>

/** Matches the end of keys in a sentence. */
const endPattern = /^(?:$|\n|[;).]| \(|,? (?:if|or|and|until|with|leaves|drops)\b)/

/** Returns the keys with which a text begins, such as `type: date, format: dd/mm/yyyy`; null if there are none. */
function keysAtStart(text: string): Keys | null {
  for (let end = 1; end <= text.length; end += 1) {
    if (!endPattern.test(text.slice(end))) continue
    try {
      return parse(`{ ${text.slice(0, end)} }`) as Keys
    } catch {
      // The end is within quotes or brackets.
    }
  }
  return null
}

const keysIn = (text: string): Keys[] => {
  const keys = keysAtStart(text)
  return keys === null ? [] : [keys]
}

/** Splits `type: date, format: a or b` into one text for each format. */
function alternatives(text: string): string[] {
  const [, before, firstFormat, secondFormat, after = ''] =
    /^(.*format: )([^ ,]+) or ([^ ,;]+)(.*)$/s.exec(text) ?? []
  return before === undefined
    ? [text]
    : [`${before}${firstFormat ?? ''}${after}`, `${before}${secondFormat ?? ''}${after}`]
}

/** Returns the keys of a field that a question or notice offers. */
function fieldRemedies(text: string): Keys[] {
  const offers = [...text.matchAll(/\bdeclare (?=\w+: )|\((?=type: )|are numbers: (?=type: )/g)]
  return offers.flatMap(({ index, 0: { length } }) =>
    alternatives(text.slice(index + length)).flatMap(keysIn),
  )
}

/** Returns the keys of a source that a message offers, such as `source.skip_last: 1` or `declare cr as ...`. */
function sourceRemedies(text: string): Keys[] {
  const offers = [...text.matchAll(/\bsource\.(?=\w+: )/g)].flatMap(({ index, 0: { length } }) =>
    keysIn(text.slice(index + length).replaceAll('source.', '')),
  )
  const named = [...text.matchAll(/declare (?!it )(\S+) as source\.(\w+)/g)].map(
    ([, value = '', key = '']) => ({
      [key]: value,
    }),
  )
  return [...offers, ...named].filter((keys, at, list) => !isWithin(keys, list.slice(0, at)))
}

/** Returns whether a remedy is a part of another one, as the second key of several is. */
const isWithin = (keys: Keys, others: readonly Keys[]): boolean =>
  others.some((remedy) =>
    Object.keys(keys).every((key) => JSON.stringify(remedy[key]) === JSON.stringify(keys[key])),
  )

type Remedy = readonly [keys: Keys, rows: readonly (readonly unknown[])[]]

testSampled<[title: string, content: string | Buffer, remedies: readonly Remedy[]]>([
  [
    'an ambiguous number',
    'n;v\n1;1.234\n2;5.678\n',
    [
      [
        { type: 'integer', groups: '.' },
        [
          [1, 1234],
          [2, 5678],
        ],
      ],
      [
        { type: 'decimal', scale: 3 },
        [
          [1, 1.234],
          [2, 5.678],
        ],
      ],
    ],
  ],
  [
    'an ambiguous number with a comma',
    'n;v\n1;1,234\n2;5,678\n',
    [
      [
        { type: 'integer', groups: ',' },
        [
          [1, 1234],
          [2, 5678],
        ],
      ],
      [
        { type: 'decimal', scale: 3, decimal: ',' },
        [
          [1, 1.234],
          [2, 5.678],
        ],
      ],
    ],
  ],
  [
    'numbers such as 1.9 and 1.10, which may count parts',
    'n;v\n1;1.9\n2;1.10\n',
    [
      [
        { type: 'decimal', scale: 2 },
        [
          [1, 1.9],
          [2, 1.1],
        ],
      ],
    ],
  ],
  [
    'an ambiguous date',
    'n;v\n1;02/10/2022\n2;03/04/2022\n',
    [
      [
        { type: 'date', format: 'dd/mm/yyyy' },
        [
          [1, '2022-10-02'],
          [2, '2022-04-03'],
        ],
      ],
      [
        { type: 'date', format: 'mm/dd/yyyy' },
        [
          [1, '2022-02-10'],
          [2, '2022-03-04'],
        ],
      ],
    ],
  ],
  [
    'years of two digits',
    'n;v\n1;16-07-68\n2;31-12-45\n',
    [
      [
        { type: 'date', format: 'dd-mm-yy', two_digit_years_from: 1930 },
        [
          [1, '1968-07-16'],
          [2, '1945-12-31'],
        ],
      ],
    ],
  ],
  [
    'a time or a duration',
    'n;v\n1;3:45\n2;4:50\n',
    [
      [
        { type: 'time', format: 'h:mm' },
        [
          [1, '03:45:00'],
          [2, '04:50:00'],
        ],
      ],
    ],
  ],
  [
    'a word for null among texts',
    'n;v\n1;a\n2;N/A\n3;b\n',
    [
      [
        { nulls: ['', 'N/A'] },
        [
          [1, 'a'],
          [2, null],
          [3, 'b'],
        ],
      ],
    ],
  ],
  [
    'S and N',
    'n;v\n1;S\n2;N\n',
    [
      [
        { type: 'bool', booleans: { true: ['S'], false: ['N'] } },
        [
          [1, true],
          [2, false],
        ],
      ],
    ],
  ],
  [
    'digits around an E',
    'n;v\n1;1E5\n2;2E7\n',
    [
      [
        { type: 'float' },
        [
          [1, 1e5],
          [2, 2e7],
        ],
      ],
    ],
  ],
  [
    'school years',
    'n;v\n1;2008-09\n2;2009-10\n',
    [
      [
        { type: 'date', format: 'yyyy-mm' },
        [
          [1, '2008-09-01'],
          [2, '2009-10-01'],
        ],
      ],
    ],
  ],
  [
    'months with years of two digits',
    'n;v\n1;jan/23\n2;fev/24\n',
    [
      [
        { type: 'date', format: 'mmm/yy' },
        [
          [1, '2023-01-01'],
          [2, '2024-02-01'],
        ],
      ],
    ],
  ],
  [
    'days that are numbers',
    'n;v\n1;15012024\n2;28022024\n',
    [
      [
        { type: 'date', format: 'ddmmyyyy' },
        [
          [1, '2024-01-15'],
          [2, '2024-02-28'],
        ],
      ],
    ],
  ],
  [
    'a number for a missing value',
    'n;v\n1;5\n2;-9999\n',
    [
      [
        { nulls: ['', '-9999'] },
        [
          [1, 5],
          [2, null],
        ],
      ],
    ],
  ],
  [
    'words among numbers',
    'n;v\n1;5\n2;X\n3;7\n4;#DIV/0!\n5;9\n',
    [
      [
        { type: 'integer', nulls: ['', 'X', '#DIV/0!'] },
        [
          [1, 5],
          [2, null],
          [3, 7],
          [4, null],
          [5, 9],
        ],
      ],
    ],
  ],
  [
    'padded words among numbers with a decimal comma',
    'n;v \n1;5,5 \n2;X \n3;7 \n',
    [
      [
        { type: 'float', decimal: ',', trim: true, nulls: ['', 'X'] },
        [
          [1, 5.5],
          [2, null],
          [3, 7],
        ],
      ],
    ],
  ],
  [
    'zeros among days',
    'n;dt_fim\n1;20240301\n2;00000000\n3;20240302\n',
    [
      [
        { type: 'date', format: 'yyyymmdd', nulls: ['', '00000000'] },
        [
          [1, '2024-03-01'],
          [2, null],
          [3, '2024-03-02'],
        ],
      ],
    ],
  ],
  [
    'a total that is no sum',
    'v;n\na;1\nb;2\nTotal;4\nNota: x\nFonte: y\n',
    [
      [
        { drop: { v: ['Total'] } },
        [
          ['a', 1],
          ['b', 2],
        ],
      ],
    ],
  ],
  [
    'labels below the header',
    'area;n;rate\nRegion;Count;Share\nA;1;1.5\nB;2;2.5\n',
    [
      [
        { type: 'integer', nulls: ['', 'Count'] },
        [
          ['Region', null, 'Share'],
          ['A', 1, '1.5'],
          ['B', 2, '2.5'],
        ],
      ],
      [
        { type: 'float', nulls: ['', 'Share'] },
        [
          ['Region', 'Count', null],
          ['A', '1', 1.5],
          ['B', '2', 2.5],
        ],
      ],
      [
        { drop: { area: ['Region'] } },
        [
          ['A', '1', '1.5'],
          ['B', '2', '2.5'],
        ],
      ],
    ],
  ],
  [
    'a header of numbers that is taken for a row',
    'sp;0.1;0.5\nA;1.5;2.5\nB;3.5;4.5\n',
    [
      [
        { header_in_file: ['sp', '0.1', '0.5'] },
        [
          ['A', 1.5, 2.5],
          ['B', 3.5, 4.5],
        ],
      ],
    ],
  ],
  [
    'a header that lacks a name',
    '"species"\t"count"\n"1"\t"ant"\t12\n"2"\t"bee"\t7\n',
    [
      [
        { skip_lines: 1, header: ['column_1', 'column_2', 'column_3'] },
        [
          [1, 'ant', 12],
          [2, 'bee', 7],
        ],
      ],
    ],
  ],
  [
    'an ambiguous encoding, with letters in the header',
    iconv.encode('słowo;n\nŁódź;1\nżółty;2\n', 'windows-1250'),
    [
      [
        { encoding: 'windows-1250' },
        [
          ['Łódź', 1],
          ['żółty', 2],
        ],
      ],
    ],
  ],
])('the printed remedies for %s give the right rows', async (_what, content, remedies) => {
  const { entry } = await entryOf(content)
  const { remarks, fields, refusal } = await suggestion('x.csv', content)
  const ofFields = fields.flatMap(({ name, evidence }) =>
    fieldRemedies(evidence).map((keys) => ({ name, keys })),
  )
  const ofSource = sourceRemedies([...remarks.map(({ text }) => text), refusal ?? ''].join('\n'))
  const allRemedies: Remedy[] = []
  for (const field of ofFields) {
    const came = await cameWith(entry, content, {}, field)
    allRemedies.push([field.keys, 'rows' in came ? came.rows : [came.refused]])
  }
  for (const source of ofSource) {
    const came = await cameWith(entry, content, source)
    allRemedies.push([source, 'rows' in came ? came.rows : [came.refused]])
  }
  expect(allRemedies).toEqual(remedies)
})

type Entry = Awaited<ReturnType<typeof entryOf>>['entry']

/** Returns the result of a file whose entry has other keys; a field keeps its type if the keys have none. */
function cameWith(
  entry: Entry,
  content: string | Buffer,
  source: Keys,
  field?: { name: string; keys: Keys },
) {
  const fields = entry.fields.map((entryField) => {
    if (entryField.name !== field?.name) return entryField
    return 'type' in field.keys ? { name: entryField.name, ...field.keys } : { ...entryField, ...field.keys }
  })
  const declaration = {
    ...entry,
    name: 't',
    fields,
    source: { ...entry.source, ...source, files: 'd/x.csv' },
  }
  return whatCame(declaration, { 'd/x.csv': content })
}

test.each<[title: string, source: Keys, content: string | Buffer, keys: Keys]>([
  ['a repeated header', {}, 'n,v\n1,a\nn,v\n2,b\n', { skip_repeated_headers: true }],
  ['empty cells beyond the header', {}, 'n,v\n1,a,,\n2,b\n', { drop_empty_extra_cells: true }],
  ['another delimiter', {}, 'n;v\n1;a\n2;b\n', { delimiter: ';' }],
  [
    'UTF-8 that is declared as another encoding',
    { encoding: 'latin-1' },
    'n,v\n1,a\n2,b\n'.replaceAll('a', 'ã'),
    { encoding: 'utf-8' },
  ],
  ['UTF-16', {}, Buffer.from('\ufeffn,v\n1,a\n2,b\n', 'utf16le'), { encoding: 'utf-16' }],
  ['line ends of old Macs', {}, 'n,v\r1,a\r2,b\r', { line_terminator: 'cr' }],
])('the remedy that an ingest prints for %s gives the right rows', async (_what, source, content, keys) => {
  const declaration = { fields: ['n:integer', 'v:string'], source }
  const failed = await whatCame(declaration, content)
  const text = 'refused' in failed ? failed.refused.join('\n') : ''
  const offers = [
    ...sourceRemedies(text),
    ...[...text.matchAll(/\bdeclare (?=line_terminator: )/g)].flatMap(({ index, 0: { length } }) =>
      keysIn(text.slice(index + length)),
    ),
    ...[...text.matchAll(/may be ("[^"]*"): declare it as source\.(\w+)/g)].map(
      ([, value = '', key = '']): Keys => ({ [key]: JSON.parse(value) }),
    ),
  ]
  expect(offers).toEqual([keys])
  const came = await whatCame({ ...declaration, source: { ...source, ...offers[0] } }, content)
  expect('rows' in came && came.rows.length).toBe(2)
})
