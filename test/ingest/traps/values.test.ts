import { refused, whatCame } from '../support/declared.ts'
import { sampled, testSampled } from '../../support/runs.ts'

/** Traps in values: a source either loads to the rows that stand here, or is refused with these words. */

const expects = {
  integer: 'is not a whole number of 64 bits, digits only, such as 1200 or -7',
  decimal: 'is not a decimal number with at most 4 digits before and 2 after the point, such as -12.50',
  float: 'is not a finite number with a decimal point and at most 17 digits, such as 0.0189 or 1e-7',
  bool: 'is not true, True, TRUE or false, False, FALSE',
  date: 'is not a calendar date as YYYY-MM-DD, such as 2020-06-12',
  datetime: 'is not a date and time without offset, such as 2020-06-12 18:05:00 or 2020-06-12T18:05:00',
}
const comma = ' (with a decimal comma, without separators between groups of digits)'

describe('values of the declared type', () => {
  type Case = [title: string, type: string | object, source: object, texts: string[], values: unknown[]]
  const cases: Case[] = [
    ['leading zeros in a text', 'string', {}, ['00123', '0', '000'], ['00123', '0', '000']],
    ['20 digits in a text', 'string', {}, ['12345678901234567890'], ['12345678901234567890']],
    ['numbers in a text', 'string', {}, ['1.50', '1e3', '+5', 'NaN'], ['1.50', '1e3', '+5', 'NaN']],
    ['leading zeros in an integer', 'integer', {}, ['007', '-007', '-0'], [7, -7, 0]],
    ['zeros past the scale', 'decimal:6:2', {}, ['1.5000', '0001.50'], [1.5, 1.5]],
    ['a decimal comma', 'decimal:6:2', { decimal: ',' }, ['"1234,5"', '7', '"-0,25"'], [1234.5, 7, -0.25]],
    ['a decimal comma in a float', 'float', { decimal: ',' }, ['"1,5e3"', '"0,1"'], [1500, 0.1]],
    [
      'a decimal comma in a text stays',
      'string',
      { decimal: ',' },
      ['"1.234,56"', '1.5'],
      ['1.234,56', '1.5'],
    ],
    ['an integer with a decimal comma declared', 'integer', { decimal: ',' }, ['12'], [12]],
    [
      'declared words for bool',
      'bool',
      { booleans: { true: ['S', 'sim'], false: ['N'] } },
      ['S', 'N', 'sim', ''],
      [true, false, true, null],
    ],
    [
      'a declared date',
      { type: 'date', format: 'dd/mm/yyyy' },
      {},
      ['29/02/2020', '01/12/2019'],
      ['2020-02-29', '2019-12-01'],
    ],
    ['a declared date of the table', 'date', { date: 'd.m.yyyy' }, ['1.2.2020'], ['2020-02-01']],
    [
      'a declared time',
      'datetime',
      { datetime: 'dd/mm/yyyy hh:mm' },
      ['01/02/2020 10:20'],
      ['2020-02-01T10:20:00'],
    ],
    ['a date field of digits', 'date', { date: 'yyyymmdd' }, ['20200229'], ['2020-02-29']],
    [
      'null words, quoted or not',
      'integer',
      { nulls: ['', 'NA', '#N'] },
      ['NA', '"NA"', '#N', '""', ''],
      [null, null, null, null, null],
    ],
    [
      'a null word is the whole text',
      'string',
      { nulls: ['NA'] },
      ['NAN', 'na', ' NA', 'NA'],
      ['NAN', 'na', ' NA', null],
    ],
    ['nulls without the empty text', 'string', { nulls: ['NA'] }, ['', '""', 'NA'], ['', '', null]],
    ['no null at all', 'string', { nulls: [] }, ['', '""', 'x'], ['', '', 'x']],
    ['the empty text, quoted or not', 'string', {}, ['', '""', '" "'], [null, null, ' ']],
    ['backslashes are letters', 'string', {}, ['\\n', '"a\\"', "\\'", '\\N'], ['\\n', 'a\\', "\\'", '\\N']],
    ['number signs are letters', 'string', {}, ['#x', '# comment'], ['#x', '# comment']],
    ['spaces stay', 'string', {}, [' x ', '" x "', '\tx'], [' x ', ' x ', '\tx']],
    [
      'a carriage return inside of quotes',
      'string',
      {},
      ['"a\rb"', '"\r"', '"a\r\nb"'],
      ['a\rb', '\r', 'a\r\nb'],
    ],
    [
      'texts that look like code',
      'string',
      {},
      ["'; drop table t; --", '=1+1', '${x}'],
      ["'; drop table t; --", '=1+1', '${x}'],
    ],
    [
      'white space around trimmed values',
      'integer',
      { trim: true },
      ['" 1"', '2  ', '"\t3\n"', '\u00a04', '"  "'],
      [1, 2, 3, 4, null],
    ],
    [
      'words for null, once trimmed',
      'string',
      { trim: true, nulls: ['', '-'] },
      [' - ', ' a b '],
      [null, 'a b'],
    ],
    [
      'groups of digits',
      { type: 'integer', groups: '.' },
      {},
      ['1.234', '12.345.678', '1234', '-1.000'],
      [1234, 12345678, 1234, -1000],
    ],
    [
      'groups of digits and a decimal comma',
      'decimal:12:2',
      { groups: '.', decimal: ',' },
      ['"1.234,56"', '"1234,5"', '"-0,25"', '"999.999.999,00"', '7'],
      [1234.56, 1234.5, -0.25, 999999999, 7],
    ],
    [
      'groups of digits by any space',
      'float',
      { groups: ' ', decimal: ',' },
      ['"1 234,5"', '"1\u00a0234\u202f567,25"', '"1,5e3"'],
      [1234.5, 1234567.25, 1500],
    ],
    ['groups of digits by apostrophes', 'integer', { groups: "'" }, ["1'234", '1’234’567'], [1234, 1234567]],
    [
      'marks beside a number',
      'decimal:12:2',
      { groups: '.', decimal: ',', marks: ['R$', '%', 'US$'] },
      [
        '"R$ 1.234,50"',
        '"-R$ 0,25"',
        '"R$ -0,25"',
        '"R$1,00"',
        '"12,5 %"',
        '12%',
        '"US$\u00a01,00"',
        '"R$   5,00"',
      ],
      [1234.5, -0.25, -0.25, 1, 12.5, 12, 1, 5],
    ],
    [
      'parentheses around negative numbers',
      'decimal:12:2',
      { groups: ',', marks: ['$', '()'] },
      ['"(1,234.50)"', '(7)', '"$1,234.50"', '"($ 0.25)"', '-3'],
      [-1234.5, -7, 1234.5, -0.25, -3],
    ],
    [
      'years of two digits',
      'date',
      { date: ['m/d/yy', 'yyyy-mm-dd'] },
      ['3/30/12', '12/1/69', '1/1/68', '1/1/00', '2001-02-03'],
      ['2012-03-30', '1969-12-01', '2068-01-01', '2000-01-01', '2001-02-03'],
    ],
    [
      'years of two digits from 1930',
      'date',
      { date: 'd-m-yy', two_digit_years_from: 1930 },
      ['16-07-68', '1-1-30', '31-12-29', '1-1-00'],
      ['1968-07-16', '1930-01-01', '2029-12-31', '2000-01-01'],
    ],
    [
      'midnight at the end of a day',
      'datetime',
      { datetime: ['yyyy-mm-dd hh:mm', 'dd/mm/yyyy hh:mm:ss'] },
      ['2023-12-31 24:00', '28/02/2024 24:00:00', '2024-02-29 00:00'],
      ['2024-01-01T00:00:00', '2024-02-29T00:00:00', '2024-02-29T00:00:00'],
    ],
    ['a plus before a number', 'integer', { marks: ['+'] }, ['+5', '5', '-5', '+0'], [5, 5, -5, 0]],
    [
      'cents',
      { type: 'decimal', scale: 2, factor: 0.01 },
      {},
      ['12345', '5', '-7', '0', '100', '000'],
      [123.45, 0.05, -0.07, 0, 1, 0],
    ],
    [
      'thousands',
      { type: 'integer', factor: 1000 },
      {},
      ['12', '1.5', '-0.001', '1.234', '0'],
      [12000, 1500, -1, 1234, 0],
    ],
    [
      'a percentage as a share',
      { type: 'float', factor: 0.01, marks: ['%'], decimal: ',' },
      {},
      ['"12,5 %"', '100%', '"0,1%"'],
      [0.125, 1, 0.001],
    ],
    [
      'words for null of one field',
      { type: 'integer', nulls: ['-', 'n/a', '.'] },
      { nulls: ['', 'x'] },
      ['-', 'n/a', '.', '7'],
      [null, null, null, 7],
    ],
    [
      'words for true of one field',
      { type: 'bool', booleans: { true: ['1'], false: ['0'] } },
      {},
      ['1', '0', ''],
      [true, false, null],
    ],
    ['months', 'date', { date: 'mm-yyyy' }, ['04-2018', '12-1999'], ['2018-04-01', '1999-12-01']],
    [
      'short names of months',
      'date',
      { date: 'd-mmm-yyyy' },
      ['1-Jan-2020', '02-fev-2020', '3-MAI.-2020', '31-dez-2019', '1-Sept-2020', '1-out.-2020'],
      ['2020-01-01', '2020-02-02', '2020-05-03', '2019-12-31', '2020-09-01', '2020-10-01'],
    ],
    [
      'whole names of months',
      'date',
      { date: 'd de mmmm de yyyy'.replaceAll('de', 'DE') },
      ['1 DE janeiro DE 2020', '2 DE MARÇO DE 2020', '3 DE December DE 2020'],
      ['2020-01-01', '2020-03-02', '2020-12-03'],
    ],
    [
      'fractions of seconds',
      'datetime',
      { datetime: 'dd/mm/yyyy hh:mm:ss.f' },
      ['01/02/2020 10:20:30.5', '01/02/2020 10:20:30.000000', '01/02/2020 10:20:30.123456000'],
      ['2020-02-01T10:20:30.5', '2020-02-01T10:20:30', '2020-02-01T10:20:30.123456'],
    ],
    [
      'offsets, brought to UTC',
      'datetime',
      { datetime: ['yyyy-mm-ddThh:mm:ssz', 'yyyy-mm-ddThh:mm:ss.fz'] },
      [
        '2020-02-01T00:20:30Z',
        '2020-02-01T00:20:30+03:00',
        '2020-02-01T23:20:30-0130',
        '2020-02-01T00:20:30.25-02',
      ],
      ['2020-02-01T00:20:30', '2020-01-31T21:20:30', '2020-02-02T00:50:30', '2020-02-01T02:20:30.25'],
    ],
    [
      'offsets, brought to a zone',
      { type: 'datetime', format: 'yyyy-mm-dd hh:mm z', timezone: 'America/Sao_Paulo' },
      {},
      ['2018-11-04 02:30 Z', '2018-11-04 03:30 +00:00', '2020-07-01 00:00 +02:00'],
      ['2018-11-03T23:30:00', '2018-11-04T01:30:00', '2020-06-30T19:00:00'],
    ],
    [
      'halves of a day',
      'datetime',
      { datetime: 'mm/dd/yyyy hh:mm:ss am' },
      ['04/05/2020 12:00:00 AM', '04/05/2020 12:30:00 pm', '04/05/2020 01:02:03 p.m.'],
      ['2020-04-05T00:00:00', '2020-04-05T12:30:00', '2020-04-05T13:02:03'],
    ],
    [
      'two formats in one column',
      { type: 'date', format: ['dd/mm/yyyy', 'mm/dd/yyyy', 'yyyy-mm-dd'] },
      {},
      ['25/12/2020', '12/25/2020', '2020-01-02'],
      ['2020-12-25', '2020-12-25', '2020-01-02'],
    ],
    [
      'times of day, past midnight too',
      'time',
      {},
      ['25:10:00', '5:10:00', '00:00:00', '99:59:59', ''],
      ['25:10:00', '05:10:00', '00:00:00', '99:59:59', null],
    ],
    [
      'times of day by a format',
      { type: 'time', format: ['h:mm', 'hh:mm:ss am'] },
      {},
      ['5:10', '23:59', '01:02:03 PM'],
      ['05:10:00', '23:59:00', '13:02:03'],
    ],
    ['characters beyond the first plane', 'string', {}, ['😀', '"👩‍👩‍👧"', 'e\u0301'], ['😀', '👩‍👩‍👧', 'e\u0301']],
  ]

  // Cases with the same source settings are the columns of one table; a shorter column begins again.
  const kinds = [...new Set(cases.map(([, , source]) => JSON.stringify(source)))]
  test.each(sampled(kinds, 3))('are read exactly with the source settings %s', async (kind) => {
    const sameSource = cases.filter(([, , source]) => JSON.stringify(source) === kind)
    const fields = sameSource.map(([, type], at) =>
      typeof type === 'object' ? { name: `x${at}`, ...type } : `x${at}:${type}`,
    )
    const length = Math.max(...sameSource.map(([, , , texts]) => texts.length))
    const lines = Array.from({ length }, (_, row) =>
      [row, ...sameSource.map(([, , , texts]) => texts[row % texts.length])].join(),
    )
    const content = `n,${sameSource.map((_, at) => `x${at}`).join()}\n${lines.join('\n')}\n`
    const source = JSON.parse(kind) as object
    const came = await whatCame({ fields: ['n:integer', ...fields], source }, content)
    const byCase =
      'refused' in came
        ? came
        : sameSource.map(([description], at) => [description, came.rows.map((row) => row[at + 1])])
    expect(byCase).toEqual(
      sameSource.map(([description, , , , values]) => [
        description,
        Array.from({ length }, (_, row) => values[row % values.length]),
      ]),
    )
    expect(came).toMatchObject({ notices: [] })
  })
})

describe('values of another type', () => {
  testSampled<[title: string, type: string | object, source: object, texts: string[], expected: string]>([
    [
      'integer',
      'integer',
      {},
      [
        '1.5',
        '2.5',
        '12.75',
        '1e3',
        '1_000',
        '0x1F',
        '1.0',
        '"1,000"',
        '12345678901234567890',
        '9223372036854775808',
        '+1',
        ' 1',
        '1 ',
        '"1\n"',
        '٣',
        'null',
        '-',
      ],
      expects.integer,
    ],
    [
      'decimal',
      'decimal:6:2',
      {},
      ['1.005', '0.001', '12345.6', '99999', '1e2', '"1.234,56"', '"1,5"', '.', '-.', '1.5.5', 'Infinity'],
      expects.decimal,
    ],
    [
      'decimal with a decimal comma',
      'decimal:6:2',
      { decimal: ',' },
      ['"1.234,56"', '1.5', '"1,2,3"', '"1,005"'],
      expects.decimal + comma,
    ],
    [
      'float',
      'float',
      {},
      [
        '1e400',
        '-1e400',
        'nan',
        'NaN',
        'inf',
        '-inf',
        'Infinity',
        '"1.234,56"',
        '"1,5"',
        '1_0',
        '0x1F',
        '1e',
        '1 000',
      ],
      expects.float,
    ],
    [
      'float with a decimal comma',
      'float',
      { decimal: ',' },
      ['"1.234,56"', '1.5', '"1,2,3"'],
      expects.float + comma,
    ],
    ['bool', 'bool', {}, ['yes', 't', '1', '0', 'f', 'T', 'no', 'on', ' true', 'tRue', 'Sim'], expects.bool],
    [
      'bool of declared words',
      'bool',
      { booleans: { true: ['S'], false: ['N'] } },
      ['true', 's', 'sim', '1'],
      'is not S or N',
    ],
    [
      'date',
      'date',
      {},
      [
        '2020-02-01 10:20:30',
        '2020-02-01 00:00:00',
        '2020/02/01',
        '2020-2-1',
        'infinity',
        '-infinity',
        'epoch',
        'today',
        '31/02/2020',
        '29/02/2019',
        '2019-02-29',
        '2020-02-30',
        '20-02-01',
        '0000-01-01',
        '10000-01-01',
        '2020-02-01 (BC)',
        '2020-13-01',
      ],
      expects.date,
    ],
    [
      'wrong groups of digits',
      'decimal:12:2',
      { groups: '.', decimal: ',' },
      [
        '1.23',
        '1.2345',
        '"1,234.5"',
        '.123',
        '1..234',
        '1.234.56',
        '"1.234,567"',
        '12 345',
        '1.234.',
        '1234.567',
        '0.123',
      ],
      'is not a decimal number with at most 10 digits before and 2 after the point, such as -12.50 ' +
        '(with a decimal comma, groups of three digits separated by ".")',
    ],
    [
      'marks that the catalog does not declare, or in a wrong place',
      { type: 'integer', marks: ['R$', '+'] },
      {},
      ['$5', 'R 5', 'R$', '--5', '-R$-5', '5-', 'R$ 5 6', '+-5'],
      `${expects.integer} (with or without R$ or + beside it)`,
    ],
    [
      'parentheses that are no pair around a number',
      { type: 'integer', marks: ['()'] },
      {},
      ['(5', '5)', '()', '(-5)', '-(5)', '((5))', '(x)'],
      `${expects.integer} (with or without () beside it)`,
    ],
    [
      'signs that are not one minus',
      { type: 'integer', minus: ['5-', '\u22125'] },
      {},
      ['--5', '5--', '-5-', '\u2212\u22125', '-', '\u20135', '(5)'],
      `${expects.integer} (negative numbers as 5- or \u22125)`,
    ],
    [
      'numbers that are not written in whole cents',
      { type: 'decimal', precision: 6, scale: 2, factor: 0.01 },
      {},
      ['1.5', '1e2', '1234567', '-', '.', '1.2.3'],
      `${expects.decimal} (then multiplied by 0.01)`,
    ],
    [
      'dates that could be meant in two ways, or in none',
      { type: 'date', format: ['dd/mm/yyyy', 'mm/dd/yyyy'] },
      {},
      ['01/02/2020', '05/05/2020', '13/13/2020', '2020-01-02', '31/02/2020'],
      'is not a valid date in exactly one of the formats dd/mm/yyyy or mm/dd/yyyy',
    ],
    [
      'wrong names of months',
      'date',
      { date: 'd mmm yyyy' },
      ['1 foo 2020', '1 january 2020', '1  jan 2020', '30 feb 2020', '1 jan.. 2020', '1  2020'],
      'is not a valid date in the format d mmm yyyy',
    ],
    [
      'missing offsets, and fractions with too many digits',
      'datetime',
      { datetime: 'yyyy-mm-dd hh:mm:ss.fz' },
      [
        '2020-01-01 10:00:00.1',
        '2020-01-01 10:00:00.1234567Z',
        '2020-01-01 10:00:00.1+15:00',
        '2020-01-01 24:00:00.1Z',
        '2020-01-01 10:00:00.1+1',
        '2020-02-30 10:00:00.1Z',
      ],
      'is not a valid datetime in the format yyyy-mm-dd hh:mm:ss.fz',
    ],
    [
      'wrong halves of a day',
      'datetime',
      { datetime: 'yyyy-mm-dd hh:mm am' },
      ['2020-01-01 13:00 PM', '2020-01-01 00:00 AM', '2020-01-01 10:00', '2020-01-01 10:60 am'],
      'is not a valid datetime in the format yyyy-mm-dd hh:mm am',
    ],
    [
      'times of day',
      'time',
      {},
      ['1:2:3', '100:00:00', '10:60:00', '10:00:60', '10:00', '-1:00:00', '10:00:00.5', 'noon'],
      'is not a time of day as hh:mm:ss, such as 18:05:00, or 25:10:00 for 01:10:00 of the next day',
    ],
    [
      'date by a format',
      'date',
      { date: 'dd/mm/yyyy' },
      [
        '31/02/2020',
        '29/02/2019',
        '01/02/20',
        '1/2/2020',
        '2020-02-01',
        '02/13/2020',
        '00/01/2020',
        '01/01/0000',
        ' 01/02/2020',
        '01/02/2020 00:00:00',
      ],
      'is not a valid date in the format dd/mm/yyyy',
    ],
    [
      'datetime',
      'datetime',
      {},
      [
        '2020-02-01 10:20:30-03:00',
        '2020-02-01T10:20:30-03:00',
        '2020-02-01T10:20:30Z',
        '2020-02-01 24:00:00',
        '2020-02-01',
        '2020-02-01 10:20',
        '2020-02-01 10:60:00',
        '2020-02-01 10:20:60',
        '2020-02-30 00:00:00',
        'infinity',
        'epoch',
        'now',
      ],
      expects.datetime,
    ],
    [
      'datetime by a format',
      'datetime',
      { datetime: 'dd/mm/yyyy hh:mm:ss' },
      [
        '01/02/2020 24:00:01',
        '31/02/2020 10:00:00',
        '01/02/2020',
        '01/02/2020 1:00:00',
        '01/02/2020 10:00:00-03:00',
      ],
      'is not a valid datetime in the format dd/mm/yyyy hh:mm:ss',
    ],
    ['nulls without the empty text', 'integer', { nulls: ['NA'] }, ['', '""', 'na'], expects.integer],
  ])('are rejected with a reason: %s', async (_what, type, source, texts, expected) => {
    const field = typeof type === 'object' ? { name: 'x', ...type } : `x:${type}`
    const content = `n,x\n${texts.map((text, index) => `${index},${text}\n`).join('')}`
    const lines = texts.map((_, index) => 2 + texts.slice(0, index).join('').split('\n').length - 1 + index)
    const plain = texts.map((text) => JSON.stringify(text.replaceAll(/^"|"$/g, '')))
    const messages = plain.map((text, index) => `  line ${lines[index]}, field "x": ${text} ${expected}`)
    await expect(whatCame({ fields: ['n:integer', field], source }, content)).resolves.toEqual(
      refused(
        `${texts.length} rows do not match the catalog; nothing was published`,
        ...messages.slice(0, 10),
        ...(texts.length > 10 ? [`  and ${texts.length - 10} more`] : []),
      ),
    )
  })
})
