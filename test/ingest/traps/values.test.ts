import { describe, expect, test } from '@jest/globals'
import { refused, rows, whatCame } from '../../support/declared.ts'

/** Traps in values: a source either loads to the rows that stand here, or is refused with these words. */

const expects = {
  integer: 'is not a whole number of 64 bits, digits only, such as 1200 or -7',
  decimal: 'is not a decimal number with at most 4 digits before and 2 after the point, such as -12.50',
  float: 'is not a finite number with a decimal point and at most 17 digits, such as 0.0189 or 1e-7',
  bool: 'is not true, True, TRUE or false, False, FALSE',
  date: 'is not a date of the calendar as YYYY-MM-DD, such as 2020-06-12',
  datetime: 'is not a date and time without offset, such as 2020-06-12 18:05:00 or 2020-06-12T18:05:00',
}
const comma = ' (with a decimal comma, digits not grouped)'

describe('values that are what the catalog declares', () => {
  test.each<[what: string, type: string | object, source: object, texts: string[], values: unknown[]]>([
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
      'what looks like code',
      'string',
      {},
      ["'; drop table t; --", '=1+1', '${x}'],
      ["'; drop table t; --", '=1+1', '${x}'],
    ],
    ['characters beyond the first plane', 'string', {}, ['😀', '"👩‍👩‍👧"', 'e\u0301'], ['😀', '👩‍👩‍👧', 'e\u0301']],
  ])('%s', async (_what, type, source, texts, values) => {
    const field = typeof type === 'object' ? { name: 'x', ...type } : `x:${type}`
    // A second column, since a blank line would be no row.
    const content = `n,x\n${texts.map((text, index) => `${index},${text}\n`).join('')}`
    await expect(whatCame({ fields: ['n:integer', field], source }, content)).resolves.toEqual(
      rows(...values.map((value, index) => [index, value])),
    )
  })
})

describe('values that are not', () => {
  test.each<[what: string, type: string | object, source: object, texts: string[], expected: string]>([
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
      ['1.005', '0.001', '12345.6', '99999', '1e2', '"1.234,56"', '"1,5"', '1.', '.5', '1.5.5', 'Infinity'],
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
      'is not a date of the calendar as dd/mm/yyyy',
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
        '01/02/2020 24:00:00',
        '31/02/2020 10:00:00',
        '01/02/2020',
        '01/02/2020 1:00:00',
        '01/02/2020 10:00:00-03:00',
      ],
      'is not a datetime of the calendar as dd/mm/yyyy hh:mm:ss',
    ],
    ['nulls without the empty text', 'integer', { nulls: ['NA'] }, ['', '""', 'na'], expects.integer],
  ])('%s', async (_what, type, source, texts, expected) => {
    const field = typeof type === 'object' ? { name: 'x', ...type } : `x:${type}`
    const content = `n,x\n${texts.map((text, index) => `${index},${text}\n`).join('')}`
    const lines = texts.map((_, index) => 2 + texts.slice(0, index).join('').split('\n').length - 1 + index)
    const plain = texts.map((text) => JSON.stringify(text.replaceAll(/^"|"$/g, '')))
    const told = plain.map((text, index) => `  line ${lines[index]}, field "x": ${text} ${expected}`)
    await expect(whatCame({ fields: ['n:integer', field], source }, content)).resolves.toEqual(
      refused(
        `${texts.length} rows are not what the catalog declares; nothing was published`,
        ...told.slice(0, 10),
        ...(texts.length > 10 ? [`  and ${texts.length - 10} more`] : []),
      ),
    )
  })
})
