import request from 'supertest'
import { serve } from '../support/service.ts'
import { tinyCatalog, workshop } from '../support/workshop.ts'
import { testSampled } from '../support/runs.ts'

/** Ingests one column of values and reads them back through the API, as the digits on the wire. */
async function published(type: string, texts: readonly string[]): Promise<string[]> {
  const shop = await workshop(tinyCatalog({ fields: [`x:${type}`, 'n:integer'] }), {
    'd/t.csv': `n,x\n${texts.map((text, index) => `${index},${text}`).join('\n')}\n`,
  })
  const [outcome] = await shop.ingest()
  if (outcome?.status === 'failed') throw outcome.failure
  const { app } = await serve(shop)
  const { text } = await request(app).get('/api/v1/dataset/d/t/data/?page_size=10000').expect(200)
  return [...text.matchAll(/"x":(.*?)\}/gs)].map((match) => match[1] ?? '')
}

describe('valid values arrive exactly', () => {
  testSampled<[type: string, texts: string[], onTheWire: string[]]>([
    [
      'integer',
      ['0', '-7', '9007199254740993', '9223372036854775807', '-9223372036854775808', '007', '-0', ''],
      ['0', '-7', '9007199254740993', '9223372036854775807', '-9223372036854775808', '7', '0', 'null'],
    ],
    ['integer', ['127', '-128', ''], ['127', '-128', 'null']],
    ['integer', ['128', '-7'], ['128', '-7']],
    ['integer', ['-129', '7'], ['-129', '7']],
    ['integer', ['32767', '-32768'], ['32767', '-32768']],
    ['integer', ['32768', '-1'], ['32768', '-1']],
    ['integer', ['2147483647', '-2147483648'], ['2147483647', '-2147483648']],
    ['integer', ['-2147483649', '0'], ['-2147483649', '0']],
    [
      'decimal:18:2',
      [
        '10.50',
        '-0.05',
        '1234567890123456.78',
        '5',
        '00.5',
        '1.500',
        '-0.00',
        '.5',
        '-.25',
        '5.',
        '-.00',
        '',
      ],
      [
        '10.50',
        '-0.05',
        '1234567890123456.78',
        '5.00',
        '0.50',
        '1.50',
        '0.00',
        '0.50',
        '-0.25',
        '5.00',
        '0.00',
        'null',
      ],
    ],
    [
      'decimal:38:10',
      ['1234567890123456789012345678.0123456789', '-1'],
      ['1234567890123456789012345678.0123456789', '-1.0000000000'],
    ],
    ['decimal:5:0', ['12345', '-3.000'], ['12345', '-3']],
    [
      'float',
      [
        '0.1',
        '1e-7',
        '237.00394',
        '1.7976931348623157e308',
        '-.5',
        '5.',
        '0',
        '-0.0',
        '0.1234567890123456',
        '00100000000000000000000.000',
        '0.5000',
        '-12.7500',
        '1200',
        '100.0',
        '1e2',
        '1e+20',
        '1e200',
        '',
      ],
      [
        '0.1',
        '1e-7',
        '237.00394',
        '1.7976931348623157e308',
        '-0.5',
        '5.0',
        '0.0',
        '0.0',
        '0.1234567890123456',
        '100000000000000000000.0',
        '0.5',
        '-12.75',
        '1200.0',
        '100.0',
        '100.0',
        '100000000000000000000.0',
        '1e200',
        'null',
      ],
    ],
    ['bool', ['true', 'False', 'TRUE', 'FALSE', ''], ['true', 'false', 'true', 'false', 'null']],
    [
      'date',
      ['2020-02-29', '0001-01-01', '9999-12-31', ''],
      ['"2020-02-29"', '"0001-01-01"', '"9999-12-31"', 'null'],
    ],
    [
      'datetime',
      [
        '2020-06-12 18:05:00',
        '2020-06-12T18:05:00',
        '2020-06-12 18:05:10.120',
        '2020-06-12 00:00:00.000',
        '',
      ],
      [
        '"2020-06-12T18:05:00"',
        '"2020-06-12T18:05:00"',
        '"2020-06-12T18:05:10.12"',
        '"2020-06-12T00:00:00"',
        'null',
      ],
    ],
    [
      'string',
      [
        '012',
        ' a ',
        '"a,""b"""',
        '"line\nbreak"',
        '"crlf\r\n"',
        'São Luís 😀',
        '""',
        '#NULO#',
        'null',
        '\\N',
      ],
      [
        '"012"',
        '" a "',
        String.raw`"a,\"b\""`,
        String.raw`"line\nbreak"`,
        String.raw`"crlf\r\n"`,
        '"São Luís 😀"',
        'null',
        '"#NULO#"',
        '"null"',
        String.raw`"\\N"`,
      ],
    ],
    [
      'text',
      ['\u2028', '\u007F', '\uFFFD', '2020-01-01'],
      ['"\u2028"', '"\u007F"', '"\uFFFD"', '"2020-01-01"'],
    ],
  ])('%s', async (type, texts, onTheWire) => {
    await expect(published(type, texts)).resolves.toEqual(onTheWire)
  })
})

describe('a value of another type is rejected, never rounded or replaced by null', () => {
  testSampled<[type: string, texts: string[], reason: string]>([
    [
      'integer',
      [
        '12.75',
        '1e3',
        '1_000',
        '0x1F',
        '+5',
        ' 5',
        '5 ',
        '9223372036854775808',
        '--1',
        '-',
        'NULL',
        '１',
        '1.000',
      ],
      'is not a whole number of 64 bits, digits only, such as 1200 or -7',
    ],
    [
      'decimal:6:2',
      ['1.005', '12345.00', '1e2', '"1.234,56"', '.', '-', '.555', 'NaN', '1 000', '- 1'],
      'is not a decimal number with at most 4 digits before and 2 after the point, such as -12.50',
    ],
    [
      'float',
      [
        '1.5e400',
        'nan',
        'inf',
        'Infinity',
        '"1,5"',
        '1e',
        'e5',
        '0x1p3',
        '.',
        '1e-400',
        '-0.123456789012345678',
      ],
      'is not a finite number with a decimal point and at most 17 digits, such as 0.0189 or 1e-7',
    ],
    ['bool', ['yes', '1', 't', 'tRUE', 'verdadeiro'], 'is not true, True, TRUE or false, False, FALSE'],
    [
      'date',
      [
        '31/02/2020',
        '2020-02-30',
        '2021-02-29',
        '2020-2-1',
        '2020/02/01',
        '2020-02-01 10:20:30',
        'infinity',
        'epoch',
        '0000-01-01',
        '20200201',
      ],
      'is not a calendar date as YYYY-MM-DD, such as 2020-06-12',
    ],
    [
      'datetime',
      [
        '2020-02-01',
        '2020-02-01 10:20:30-03:00',
        '2020-02-01T10:20:30Z',
        '2020-02-01 24:00:00',
        '2020-02-01 10:20:60',
        '2020-02-30 10:20:30',
        '2020-02-01 10:20:30.1234567',
      ],
      'is not a date and time without offset, such as 2020-06-12 18:05:00 or 2020-06-12T18:05:00',
    ],
  ])('%s', async (type, texts, reason) => {
    const shop = await workshop(tinyCatalog({ fields: [`x:${type}`, 'n:integer'] }), {
      'd/t.csv': `n,x\n${texts.map((text, index) => `${index},${text}`).join('\n')}\n`,
    })
    const [outcome] = await shop.ingest()
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: {
        rejectCount: texts.length,
        rejects: texts.map((text, index) => ({
          line: index + 2,
          field: 'x',
          text: text.replaceAll(/^"|"$/g, ''),
          reason,
        })),
      },
    })
  })
})
