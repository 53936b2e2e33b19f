import { bad, rows, whatCame } from '../support/declared.ts'
import { testSampled } from '../../support/runs.ts'

/** Values that are made of parts: JSON, lists of texts, and places. */

const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const lines = (texts: readonly string[]): string =>
  `n,x\n${texts.map((text, index) => `${index},${cell(text)}\n`).join('')}`

describe('values made of parts', () => {
  testSampled<[title: string, field: object, texts: string[], values: unknown[]]>([
    [
      'JSON',
      { type: 'json' },
      ['{"k": 0, "s": "x y"}', '[]', '"a"', '-1.50e2', 'null', 'true', '', '{"a": {"b": [1, {"c": null}]}}'],
      [{ k: 0, s: 'x y' }, [], 'a', -150, null, true, null, { a: { b: [1, { c: null }] } }],
    ],
    [
      'JSON with words in texts that would be no JSON outside of them',
      { type: 'json' },
      ['["NaN", "Infinity", ",]", "a,}", "\\"", "\\\\"]', '{"nan": "inf"}'],
      [['NaN', 'Infinity', ',]', 'a,}', '"', '\\'], { nan: 'inf' }],
    ],
    ['JSON of several lines', { type: 'json' }, ['{\n\t"a":\r\n 1\n}'], [{ a: 1 }]],
    [
      'lists as JSON',
      { type: 'list' },
      ['["a", "b, c"]', '[]', ' [ "\\u00e3\\/" , "x\\ny" ] ', '[""]', ''],
      [['a', 'b, c'], [], ['ã/', 'x\ny'], [''], null],
    ],
    [
      'lists with a separator',
      { type: 'list', separator: '|' },
      ['a|b c| d ', 'a', 'say "x"|\\', '|', 'NA', '["a"]'],
      [['a', 'b c', 'd'], ['a'], ['say "x"', '\\'], ['', ''], ['NA'], ['["a"]']],
    ],
    [
      'lists with a separator of two characters, and words for null',
      { type: 'list', separator: ';;', nulls: ['NA'] },
      ['a;b;;c', 'NA'],
      [['a;b', 'c'], null],
    ],
    [
      'places',
      { type: 'point' },
      [
        '-23.5500, -46.63',
        '(1;2)',
        '[+01.50 -.5]',
        'POINT(-46.63 -23.55)',
        'Point ( 180 -90.0 )',
        '-0,0.0',
        '',
      ],
      [
        { lat: -23.55, lon: -46.63 },
        { lat: 1, lon: 2 },
        { lat: 1.5, lon: -0.5 },
        { lat: -23.55, lon: -46.63 },
        { lat: -90, lon: 180 },
        { lat: 0, lon: 0 },
        null,
      ],
    ],
    [
      'places with decimal commas',
      { type: 'point', decimal: ',' },
      ['-23,55; -46,63', '10,5 20'],
      [
        { lat: -23.55, lon: -46.63 },
        { lat: 10.5, lon: 20 },
      ],
    ],
  ])('are read exactly, or rejected: %s', async (_what, field, texts, values) => {
    const declaration = { fields: ['n:integer', { name: 'x', ...field }] }
    await expect(whatCame(declaration, lines(texts))).resolves.toEqual(
      rows(...values.map((value, index) => [index, value])),
    )
  })

  testSampled<[type: string, expects: string, texts: string[]]>([
    [
      'json',
      'JSON (RFC 8259), such as {"name": "Ana", "scores": [1, 2.50]}',
      ["{'a': 1}", '{"a": 1,}', '[1,]', 'NaN', '[-Infinity]', '{"a": nan}', '01', '{a: 1}', '"\\ud800"', '{'],
    ],
    [
      'list',
      'a list of texts as JSON, such as ["water", "soil, air"]',
      ['a', '"a"', '[1]', '["a", null]', '[["a"]]', '["a",]', '["a"', '{"a": "b"}', '["\\x"]', '["\\ud800"]'],
    ],
    [
      'point',
      'a latitude from -90 to 90 and a longitude from -180 to 180, such as -23.55, -46.63, or as POINT (-46.63 -23.55)',
      [
        '1',
        '1,2,3',
        '90.001,0',
        '0,-180.5',
        'POINT(0 91)',
        'a,b',
        '1e1,2',
        'N 10, W 20',
        '--1,2',
        'LINESTRING(1 2)',
      ],
    ],
  ])('are refused if they are invalid: %s', async (type, expects, texts) => {
    const came = await whatCame({ fields: ['n:integer', `x:${type}`] }, lines(texts))
    expect(came).toEqual(
      bad(
        ...texts.map(
          (text, index) => `line ${index + 2}, field "x": ${JSON.stringify(text)} is not ${expects}`,
        ),
      ),
    )
  })
})
