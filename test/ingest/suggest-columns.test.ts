import { rows as cameAs } from './support/declared.ts'
import { entryOf, ingested, linesOf } from './support/suggested.ts'
import { sampled } from '../support/runs.ts'

/** A CSV of row numbers and the values of a column. */
const contentOf = (texts: readonly string[]): string => {
  const quoted = texts.map((text) => (/[,"\n]/.test(text) ? `"${text}"` : text))
  return linesOf('n;v', ...quoted.map((text, n) => `${n};${text}`))
}

describe('the suggestion for a column', () => {
  type Case = [title: string, texts: string[], keys: object, values: unknown[] | null, said?: RegExp]
  const cases: Case[] = [
    ['groups of digits', ['1,234', '12,345,678', '5'], { type: 'integer', groups: ',' }, [1234, 12345678, 5]],
    [
      'groups and a decimal comma',
      ['1.234,56', '7,5', '1.234.567,00'],
      { type: 'decimal', scale: 2, groups: '.', decimal: ',' },
      [1234.56, 7.5, 1234567],
    ],
    [
      'money',
      ['R$ 1.234,56', 'R$ 7,50', '-R$ 0,25'],
      { type: 'decimal', scale: 2, groups: '.', decimal: ',', marks: ['R$'] },
      [1234.56, 7.5, -0.25],
    ],
    [
      'days in English',
      ['November 20, 2021', 'May 3, 2021'],
      { type: 'date', format: 'mmmm d, yyyy' },
      ['2021-11-20', '2021-05-03'],
    ],
    [
      'days in German',
      ['14. Januar 2020', '3. März 2020'],
      { type: 'date', format: 'd. mmmm yyyy' },
      ['2020-01-14', '2020-03-03'],
    ],
    [
      'a zone by its name',
      ['2021-11-20 09:56:03 UTC'],
      { type: 'datetime', format: 'yyyy-mm-dd hh:mm:ss UTC' },
      ['2021-11-20T09:56:03'],
    ],
    [
      'a day that stands for no end',
      ['31/12/9999', '25/01/2020'],
      { type: 'date', format: 'dd/mm/yyyy' },
      ['9999-12-31', '2020-01-25'],
    ],
    [
      'words of other languages',
      ['Sí', 'No'],
      { type: 'bool', booleans: { true: ['Sí'], false: ['No'] } },
      [true, false],
    ],
    [
      'years that cannot be months',
      ['2011-12', '2012-13'],
      { type: 'string' },
      null,
      /"2011-12" names two years, and stays text/,
    ],
    ['prices with a dash', ['12,-', '9,50'], { type: 'string' }, null, /"12,-" has a dash for cents/],
    ['prices with a long dash', ['12.–', '9.50'], { type: 'string' }, null, /"12\.–" has a dash for cents/],
    [
      'texts that a spreadsheet marked with an apostrophe',
      ["'00001", "'00002"],
      { type: 'string' },
      null,
      /signs of a spreadsheet/,
    ],
    [
      'a number that a spreadsheet shortened among complete ones',
      ['92907047165502', '9,98166E+13'],
      { type: 'string' },
      null,
      /"9,98166E\+13" lacks digits/,
    ],
    [
      'parts of up to three digits',
      ['1.1', '1.10', '1.100', '2.1', '2.10', '2.100'],
      { type: 'string' },
      null,
      /"1\.1" and "1\.10" count parts/,
    ],
    [
      'dates with invisible characters',
      ['\u200e01/02/2023', '\u200e13/02/2023'],
      { type: 'string' },
      null,
      /"<U\+200E>01\/02\/2023" has invisible characters \(U\+200E\)/,
    ],
    ['a share', ['12.5%', '7%'], { type: 'decimal', scale: 1, marks: ['%'] }, [12.5, 7], /; the unit is %/],
    [
      'numbers that a spreadsheet shortened',
      ['7,89123E+12', '7,8E+12'],
      { type: 'string' },
      null,
      /"7,89123E\+12" lacks digits, as spreadsheets shorten long numbers/,
    ],
    ['numbers of very different size', ['6.02E+23', '1.5E-7'], { type: 'float' }, [6.02e23, 1.5e-7]],
    [
      'digits grouped by two',
      ['1,23,456.00', '98,765.50'],
      { type: 'string' },
      null,
      /"1,23,456\.00" groups digits by two, as in India/,
    ],
    ['a place', ['-46.63,-23.55'], { type: 'string' }, null, /whether latitude or longitude is first/],
    ['a place in the Pacific', ['-120.5, 3.5'], { type: 'string' }, null, /with its longitude first/],
    [
      'school years',
      ['2008-09', '2009-10'],
      { type: 'string' },
      null,
      /whether "2008-09" is a month: declare type: date, format: yyyy-mm; otherwise it stays text/,
    ],
    ['months', ['2008-09', '2008-10'], { type: 'date', format: 'yyyy-mm' }, ['2008-09-01', '2008-10-01']],
    [
      'months with years of two digits',
      ['jan/23', 'fev/23'],
      { type: 'string' },
      null,
      /"jan\/23" is a month of a year: declare type: date, format: mmm\/yy; otherwise it stays text/,
    ],
    [
      'months in French',
      ['3 janv. 2024', '12 févr. 2024', '5 mai 2024', '2 août 2024'],
      { type: 'date', format: 'd mmm yyyy' },
      ['2024-01-03', '2024-02-12', '2024-05-05', '2024-08-02'],
    ],
    [
      'long months in Spanish',
      ['03 de enero de 2024', '15 de septiembre de 2024'],
      { type: 'date', format: 'dd de mmmm de yyyy' },
      ['2024-01-03', '2024-09-15'],
    ],
    [
      'May, which is a short and a long name, among long names of months',
      ['3 May 2024', '12 July 2024'],
      { type: 'date', format: 'd mmmm yyyy' },
      ['2024-05-03', '2024-07-12'],
    ],
    [
      'days that are numbers',
      ['15012024', '28022024'],
      { type: 'integer' },
      [15012024, 28022024],
      /they may be days: declare type: date, format: ddmmyyyy if they are/,
    ],
    [
      'a number that may mean a missing value',
      ['5', '-9999'],
      { type: 'integer' },
      [5, -9999],
      /"-9999" may mean a missing value/,
    ],
    [
      'an invisible character',
      ['\u200b12', '7', '9'],
      { type: 'string' },
      ['\u200b12', '7', '9'],
      /the others: "<U\+200B>12" \(line 2\), with invisible characters \(U\+200B\)/,
    ],
    ['percent', ['12.5%', '100%'], { type: 'decimal', scale: 1, marks: ['%'] }, [12.5, 100]],
    [
      'parentheses for a minus',
      ['($1.5)', '$2.25', '($3)'],
      { type: 'decimal', scale: 2, marks: ['$', '()'] },
      [-1.5, 2.25, -3],
    ],
    [
      'parentheses inside of a mark',
      ['$(1.5)', '($2.25)', '-$3.00', '$4'],
      { type: 'decimal', scale: 2, marks: ['$', '()'] },
      [-1.5, -2.25, -3, 4],
    ],
    ['a minus behind', ['5.00-', '7.5'], { type: 'decimal', scale: 2, minus: ['5-'] }, [-5, 7.5]],
    [
      'other signs',
      ['\u22121,5', '\u20132,5', '-3,5', '4,5'],
      { type: 'decimal', scale: 1, decimal: ',', minus: ['\u22125', '\u20135'] },
      [-1.5, -2.5, -3.5, 4.5],
    ],
    ['a minus behind every number', ['5-', '7-'], { type: 'string' }, null],
    ['two signs', ['-5-', '7'], { type: 'string' }, null],
    ['numbers in parentheses, which may refer to notes', ['(1)', '(2)'], { type: 'string' }, null],
    ['a plus', ['+5', '-7', '3'], { type: 'integer', marks: ['+'] }, [5, -7, 3]],
    [
      'numbers whose point may group digits or begin a fraction',
      ['1.234', '12.345'],
      { type: 'string' },
      null,
      /say what "1\.234" means/,
    ],
    [
      'numbers whose comma may group digits or begin a fraction',
      ['1,234', '999,999'],
      { type: 'string' },
      null,
      /say what "1,234" means/,
    ],
    ['a fraction of three digits', ['0.234', '12.345'], { type: 'decimal', scale: 3 }, [0.234, 12.345]],
    ['padded numbers', ['  12', '   5'], { type: 'integer', trim: true }, [12, 5]],
    [
      'words for null among numbers',
      ['1', '-', 'n/a', '.', 'NA', '\\N', '7'],
      { type: 'integer', nulls: ['', 'n/a', '\\N', '-', '.', 'NA'] },
      [1, null, null, null, null, null, 7],
      /"n\/a", "\\\\N", "-", "\.", "NA" become null$/m,
    ],
    ['possible words for null among texts', ['a', '-', 'NA'], { type: 'string' }, ['a', '-', 'NA']],
    [
      'a certain word for null among texts',
      ['a', '\\N', 'b'],
      { type: 'string', nulls: ['', '\\N'] },
      ['a', null, 'b'],
      /"\\\\N" becomes null$/m,
    ],
    ['years', ['2018', '2019'], { type: 'integer' }, [2018, 2019]],
    ['eight digits that are no days', ['59125792', '20200101'], { type: 'integer' }, [59125792, 20200101]],
    ['few days of eight digits', ['20200131', '20200101'], { type: 'integer' }, [20200131, 20200101]],
    [
      'years of two digits',
      ['16-07-68', '05-03-31'],
      { type: 'string' },
      null,
      /say which date "16-07-68" is: declare type: date, format: dd-mm-yy, two_digit_years_from: /,
    ],
    [
      'midnight at the end of a day',
      ['2023-12-31 22:00', '2023-12-31 24:00'],
      { type: 'datetime', format: 'yyyy-mm-dd hh:mm' },
      ['2023-12-31T22:00:00', '2024-01-01T00:00:00'],
    ],
    [
      'days and months',
      ['31/12/2020', '01/02/2020'],
      { type: 'date', format: 'dd/mm/yyyy' },
      ['2020-12-31', '2020-02-01'],
    ],
    [
      'months and days',
      ['12/31/2020', '01/02/2020'],
      { type: 'date', format: 'mm/dd/yyyy' },
      ['2020-12-31', '2020-01-02'],
    ],
    [
      'days and months in an unclear order',
      ['01/02/2020', '03/04/2020'],
      { type: 'string' },
      null,
      /say how "01\/02\/2020" is written: .*dd\/mm\/yyyy or mm\/dd\/yyyy; all values/,
    ],
    [
      'days and months in an unclear order beside a clear date',
      ['02/08/2020', '2020-03-04'],
      { type: 'string' },
      null,
      /say how "02\/08\/2020" is written: declare type: date, format: \[dd\/mm\/yyyy, yyyy-mm-dd\] or \[mm\/dd\/yyyy, yyyy-mm-dd\]; some values/,
    ],
    [
      'one or two digits',
      ['1/2/2020', '31/12/2020'],
      { type: 'date', format: 'd/m/yyyy' },
      ['2020-02-01', '2020-12-31'],
    ],
    [
      'what may be months, or weeks',
      ['04-2018', '12-2019'],
      { type: 'string' },
      null,
      /whether "04-2018" is a month: declare type: date, format: mm-yyyy; otherwise it stays text/,
    ],
    [
      'months by name',
      ['1-Jan-2020', '15-fev-2020'],
      { type: 'date', format: 'd-mmm-yyyy' },
      ['2020-01-01', '2020-02-15'],
    ],
    [
      'two formats',
      ['31/12/2020', '2020-01-02', '2020-12-31'],
      { type: 'date', format: ['yyyy-mm-dd', 'dd/mm/yyyy'] },
      ['2020-12-31', '2020-01-02', '2020-12-31'],
    ],
    [
      'days with times',
      ['31/12/2020 10:20', '01/02/2020 00:00'],
      { type: 'datetime', format: 'dd/mm/yyyy hh:mm' },
      ['2020-12-31T10:20:00', '2020-02-01T00:00:00'],
    ],
    [
      'times with an offset and a fraction',
      ['2020-12-31T10:20:30.5Z', '2020-12-31T10:20:30.25+03:00'],
      { type: 'datetime', format: 'yyyy-mm-ddThh:mm:ss.fz' },
      ['2020-12-31T10:20:30.5', '2020-12-31T07:20:30.25'],
    ],
    [
      'times with a zone and without',
      ['2024-03-01T10:00:00Z', '2024-03-01T11:00:00'],
      { type: 'string' },
      null,
      /say which zone "2024-03-01T11:00:00" is in, since other times have one: if UTC, declare type: datetime, format: \[/,
    ],
    [
      'halves of a day',
      ['12/31/2020 12:00:00 AM', '12/30/2020 01:05:00 PM'],
      { type: 'datetime', format: 'mm/dd/yyyy hh:mm:ss am' },
      ['2020-12-31T00:00:00', '2020-12-30T13:05:00'],
    ],
    ['times of day', ['25:10:00', '5:05:00'], { type: 'time' }, ['25:10:00', '05:05:00']],
    [
      'hours and minutes, or minutes and seconds',
      ['10:20', '3:59'],
      { type: 'string' },
      null,
      /say what "10:20" means: for hours and minutes, declare type: time, format: h:mm; minutes and seconds stay texts/,
    ],
    [
      'times with and without seconds',
      ['1:10:20', '3:59'],
      { type: 'string' },
      null,
      /say what "3:59" means: for hours and minutes, declare type: time, format: \[.*h:mm.*\]/,
    ],
    [
      'hours of half a day',
      ['10:20 am', '3:59 PM'],
      { type: 'time', format: 'h:mm am' },
      ['10:20:00', '15:59:00'],
    ],
    ['eleven digits', ['12345678901', '10987654321'], { type: 'integer' }, [12345678901, 10987654321]],
    [
      'numbers of people',
      ['52998224725', '11144477735'],
      { type: 'string' },
      ['52998224725', '11144477735'],
      /check digits of a CPF, a personal identifier of Brazil: mask: cpf hides/,
    ],
    [
      'words for true',
      ['Sim', 'Não', 'Sim'],
      { type: 'bool', booleans: { true: ['Sim'], false: ['Não'] } },
      [true, false, true],
    ],
    ['a letter alone', ['N', 'N'], { type: 'string' }, ['N', 'N']],
    [
      'more digits than a number has',
      ['12345678901234567890', '1'],
      { type: 'string' },
      ['12345678901234567890', '1'],
    ],
    ['zeros before a fraction', ['007.1', '12.5'], { type: 'string' }, null, /leading zero/],
    [
      'codes beside a certain word for null',
      ['007', '#NULO#', '12'],
      { type: 'string', nulls: ['', '#NULO#'] },
      ['007', null, '12'],
    ],
    [
      'days with points',
      ['05.01.2021', '25.12.2021'],
      { type: 'date', format: 'dd.mm.yyyy' },
      ['2021-01-05', '2021-12-25'],
    ],
    ['versions', ['01.1.1', '1.2.3'], { type: 'string' }, null],
    ['fractions without a whole part', ['.0512345', '.1234567'], { type: 'float' }, [0.0512345, 0.1234567]],
    ['codes with an E', ['12E04', '3E1'], { type: 'string' }, null, /around an E/],
    ['a plus without a minus', ['+5511999', '+4420'], { type: 'string' }, null, /with a plus/],
    [
      'several currencies',
      ['$1', '€2', '$3'],
      { type: 'string' },
      null,
      /of 3 different values, 2 with \$, 1 with €/,
    ],
    [
      'numbers of which only some have a percent sign',
      ['61%', '0.58', '7%'],
      { type: 'string' },
      null,
      /2 with %, 1 with none/,
    ],
    ['money and a bare number', ['R$ 5', '7'], { type: 'string' }, null, /1 with R\$, 1 with none/],
    ['codes with zeros', ['00123', '10234'], { type: 'string' }, ['00123', '10234']],
    [
      'numbers that may count parts',
      ['1.1', '1.2', '1.9', '1.10', '2.1'],
      { type: 'string' },
      null,
      /say whether "1\.1" and "1\.10" count parts, and stay texts, or are numbers: type: decimal, scale: 2$/m,
    ],
    [
      'numbers that may count parts, all with different values',
      ['2.8', '2.9', '2.10', '2.11'],
      { type: 'string' },
      null,
      /"2\.9" and "2\.10"/,
    ],
    ['parts with commas', ['1,9', '1,10', '1,1'], { type: 'string' }, null, /scale: 2, decimal: ","$/m],
    [
      'codes of which one ends in .00',
      ['1.1', '1.10', '2.0', '2.00'],
      { type: 'string' },
      null,
      /"1\.1" and "1\.10" count parts/,
    ],
    [
      'numbers and a word, of which one has a leading zero',
      ['100', '101', '007', 'A1', '102', '103'],
      { type: 'string' },
      null,
      /^(?!.*declare type: integer)/s,
    ],
    ['versions with gaps', ['1.1', '1.2', '1.10', '2.0'], { type: 'string' }, null, /count parts/],
    [
      'prices, some with a zero',
      ['1.5', '1.50', '2.25', '10.0', '3'],
      { type: 'decimal', scale: 2 },
      [1.5, 1.5, 2.25, 10, 3],
    ],
    ['prices of cents', ['1.1', '1.10', '1.05'], { type: 'decimal', scale: 2 }, [1.1, 1.1, 1.05]],
    [
      'digits on one side of the point',
      ['.5', '-.25', '5.', '0', '-.0'],
      { type: 'decimal', scale: 2 },
      [0.5, -0.25, 5, 0, 0],
    ],
    [
      'digits on one side of the comma',
      [',5', '-1,', '3'],
      { type: 'decimal', scale: 1, decimal: ',' },
      [0.5, -1, 3],
    ],
    ['a point behind every number', ['5.', '-7.'], { type: 'decimal', scale: 0 }, [5, -7]],
    [
      'S and N without other evidence',
      ['S', 'N', 'S'],
      { type: 'string' },
      null,
      /S and N may be yes and no, or have another meaning/,
    ],
    ['t and f without other evidence', ['t', 'f'], { type: 'string' }, null, /t and f may be yes and no/],
    ['Y and N', ['Y', 'N'], { type: 'bool', booleans: { true: ['Y'], false: ['N'] } }, [true, false]],
    [
      'words in mixed case',
      ['Sim', 'Não', 'sim', 'não', 'SIM'],
      { type: 'bool', booleans: { true: ['Sim', 'sim', 'SIM'], false: ['Não', 'não'] } },
      [true, false, true, false, true],
    ],
    ['letters of two languages', ['Sim', 'No'], { type: 'string' }, null],
    ['exponents', ['1e5', '2.5E-3'], { type: 'float' }, [100000, 0.0025]],
  ]
  test.each(sampled(cases, 3))(
    'has the keys that read its values exactly: %s',
    async (_what, texts, keys, _values, ...[said = /./]) => {
      const { entry, output } = await entryOf(contentOf(texts))
      const [, field] = entry.fields
      // The unit is tested with the titles.
      const { name: _name, unit: _unit, ...fieldKeys } = (field ?? {}) as Record<string, unknown>
      const ofTable = (entry.source ?? {}) as Record<string, unknown>
      const type = String(fieldKeys['type'])
      const hoisted = Object.entries({
        decimal: ofTable['decimal'],
        nulls: ofTable['nulls'],
        booleans: ofTable['booleans'],
        trim: ofTable['trim'],
        format: ['date', 'datetime', 'time'].includes(type) ? ofTable[type] : undefined,
      }).filter(([, declared]) => declared !== undefined)
      expect({ ...fieldKeys, ...Object.fromEntries(hoisted) }).toEqual(keys)
      expect(output).toMatch(said)
    },
  )

  test.each([
    ['an unrelated name', 'n;v\n1;S\n2;N\n', 'string'],
    ['a name that says yes or no', 'n;ST_REELEICAO\n1;S\n2;N\n', 'bool'],
    ['a name with an adjective', 'n;Ativo\n1;S\n2;N\n', 'bool'],
    ['a name with a participle', 'n;Contas aprovadas\n1;S\n2;N\n', 'bool'],
    ['the name of a direction', 'n;sentido\n1;S\n2;N\n', 'string'],
    ['the name of a side', 'n;Lado da via\n1;S\n2;N\n', 'string'],
    ['a name that says yes or no, for t and f', 'n;is_open\n1;t\n2;f\n', 'bool'],
    ['words for yes and no in another column, for t and f', 'n;v;w\n1;t;Yes\n2;f;No\n', 'bool'],
    ['words for yes and no in another column', 'n;v;w\n1;S;Sim\n2;N;Não\n', 'bool'],
  ])('of two letters with %s is %s', async (_what, content, type) => {
    const { entry, output } = await entryOf(content)
    expect(entry.fields[1]).toMatchObject({ type })
    expect(output).toMatch(type === 'bool' ? /which become true or false/ : /or have another meaning/)
  })

  test.each(sampled(cases))('gives the right rows in an ingest: %s', async (_what, texts, _keys, values) => {
    const due = values ?? texts
    await expect(ingested(contentOf(texts))).resolves.toEqual(cameAs(...due.map((value, n) => [n, value])))
  })
})
