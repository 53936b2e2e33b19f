import {
  bad,
  broken,
  misfit,
  titleHint,
  refused,
  rows,
  unended,
  whatCame,
  type Came,
  type Declaration,
} from '../support/declared.ts'
import { testSampled } from '../../support/runs.ts'

/** Traps in the structure of a file: a source either loads to the rows that stand here, or is refused with these words. */

const notInteger = 'is not a whole number of 64 bits, digits only, such as 1200 or -7'
const ab = ['a:string', 'b:integer']
const loneReturn =
  'a carriage return without a line feed: end lines with LF or CRLF, quote the value, or declare line_terminator: cr if all lines end this way'
const quoteInside = 'a quote is inside a value that does not start with one'

describe('a source', () => {
  testSampled<
    [title: string, source: object, content: string | Uint8Array, came: Came, fields?: Declaration['fields']]
  >([
    ['a header in another order', {}, 'b,a\n1,x\n', rows(['x', 1])],
    ['no header line', { header: ['b', 'a'] }, '1,x\n2,y\n', rows(['x', 1], ['y', 2])],
    [
      'no header line, and none declared',
      {},
      'x,1\n',
      misfit(
        'the column "a" is missing; the column "b" is missing; the column "x" is not a field of d/t (did you mean "a"?); the column "1" is not a field of d/t (did you mean "a"?)',
      ),
    ],
    [
      'a header where none is declared',
      { header: ['a', 'b'] },
      'a,b\nx,1\n',
      bad(`line 1, field "b": "b" ${notInteger}`),
    ],
    ['lines before the header', { skip_lines: 2 }, 'Title "of, it\n\na,b\nx,1\n', rows(['x', 1])],
    [
      'lines before the header, not declared',
      {},
      'Title\na,b\nx,1\n',
      misfit(
        'the column "a" is missing; the column "b" is missing; the column "Title" is not a field of d/t',
        titleHint,
      ),
    ],
    [
      'lines before the first row, no header line',
      { skip_lines: 1, header: ['a', 'b'] },
      '--\nx,1\n',
      rows(['x', 1]),
    ],
    [
      'a header with a blank name, after a blank line',
      { header_in_file: ['A', ''], header: ['a', 'b'] },
      '\nA,\nx,1\n',
      rows(['x', 1]),
    ],
    [
      'another header than the one that was named',
      { header_in_file: ['A', ''], header: ['a', 'b'] },
      ',A\n1,x\n',
      broken(
        1,
        'the header differs from source.header_in_file, so columns may have moved: it is ["","A"] instead of ["A",""]',
      ),
    ],
    [
      'lines after the last row',
      { skip_last: 2 },
      'a,b\nx,1\ny,2\nTotal,"3\n\nSource: \r\n \n',
      {
        rows: [
          ['x', 1],
          ['y', 2],
        ],
        notices: ['  left out at the end of t.csv: Total,"3', '  left out at the end of t.csv: Source: '],
      },
    ],
    [
      'lines after the last row, the last of them not ended',
      { skip_last: 1 },
      'a,b\nx,1\nTotal',
      { rows: [['x', 1]], notices: ['  left out at the end of t.csv: Total'] },
    ],
    [
      'fewer lines than are left out',
      { skip_last: 3 },
      'a,b\nx,1\n',
      refused('t.csv is empty: it needs at least a header'),
    ],
    [
      'a line at which the rows end',
      { stop_at: 'Total "' },
      'a,b\nx,1\nTotal,9\nTotal "of\n1,2,3\n"x',
      {
        rows: [
          ['x', 1],
          ['Total', 9],
        ],
        notices: [
          '  left out at the end of t.csv: 3 lines from: Total "of',
          '  warning: line 3 of t.csv is published as a row, and sums up other rows, as "Total" suggests: source.drop: {"a":["Total"]} leaves it out',
        ],
      },
    ],
    [
      'no line at which the rows end',
      { stop_at: 'Total' },
      'a,b\nx,1\n',
      {
        rows: [['x', 1]],
        notices: [
          '  warning: no line of t.csv begins with "Total", where its rows should end: check that the file is complete',
        ],
      },
    ],
    [
      'a line at which the rows end, within a value',
      { stop_at: 'Total' },
      'a,b\n"x\nTotal",1\nTotal\n',
      { rows: [['x\nTotal', 1]], notices: ['  left out at the end of t.csv: Total'] },
    ],
    [
      'comments',
      { comment: '#' },
      '# by "me\n\n#\r\na,b\nx,1\n#y,2\n"#z",3\n ,4\n# end\n',
      rows(['x', 1], ['#z', 3], [' ', 4]),
    ],
    [
      'faults after comments have their lines',
      { comment: '//' },
      '// one\n// two\na,b\n/x,1\n// three\n//\ny,z\n',
      bad(`line 7, field "b": "z" ${notInteger}`),
    ],
    [
      'fewer lines than are to be skipped',
      { skip_lines: 3 },
      'a,b\nx,1\n',
      refused('t.csv has no line after the 3 skipped ones: reduce source.skip_lines'),
    ],
    [
      'fewer lines than are to be skipped, the last not ended',
      { skip_lines: 3 },
      'title\na,b',
      refused('t.csv has no line after the 3 skipped ones: reduce source.skip_lines'),
    ],
    // Files are read a MiB at a time.
    [
      'a line before the header that ends where a piece of the file does',
      { skip_lines: 1 },
      `${'t'.repeat(2 * 1024 * 1024 - 1)}\na,b\nx,1\n`,
      rows(['x', 1]),
    ],
    [
      'a line that starts with #',
      {},
      'a,b\n#x,1\n# not a comment\n',
      bad('line 3: the row has 1 value, and the header 2'),
    ],
    ['a delimiter at the end of each line', { ignore: [''] }, 'a,b,\nx,1,\n', rows(['x', 1])],
    [
      'a delimiter at the end of each line, not declared',
      {},
      'a,b,\nx,1,\n',
      misfit('the column "" is not a field of d/t (did you mean "a"?)'),
    ],
    [
      'a delimiter at the end of rows alone',
      {},
      'a,b\nx,1,\n',
      bad(
        'line 2: the row has 3 values, and the header 2: the extra ones are empty, and source.drop_empty_extra_cells: true drops them',
      ),
    ],
    ['blank lines', {}, '\n\na,b\n\r\nx,1\n\n\n', rows(['x', 1])],
    ['a line of spaces', {}, 'a,b\n  \nx,1\n', rows(['x', 1])],
    ['a space before a quote', {}, 'a,b\n "x",1\n', rows(['x', 1])],
    [
      'a space before a quote with a comma',
      { rename: { ' a': 'c' } },
      'b, a\n1,\t "x,y"\n',
      rows([1, 'x,y']),
      ['b:integer', 'c:string'],
    ],
    ['a space after a quote', {}, 'a,b\n"x" ,"1"\t\n', rows(['x', 1])],
    [
      'a text after a quote and a space',
      {},
      'a,b\n"x" y,1\n',
      broken(2, 'text follows the closing quote of a value'),
    ],
    [
      'texts that a spreadsheet keeps',
      {},
      'a,b\n="00123", ="1"\n="x ""y""\nz",2\n=,3\n',
      rows(['00123', 1], ['x "y"\nz', 2], ['=', 3]),
    ],
    ['a formula before a quote', {}, 'a,b\n=="x",1\n', broken(2, quoteInside)],
    ['a space before a quote of values without quotes', { quote: 'none' }, 'a,b\n "x,1\n', rows([' "x', 1])],
    ['a lone CR', {}, 'a,b\nx\ry,1\n', broken(2, loneReturn)],
    ['CR as line ends', {}, 'a,b\rx,1\r', broken(1, loneReturn)],
    ['CRCRLF', {}, 'a,b\r\r\nx,1\r\r\n', broken(1, loneReturn)],
    ['CRLF and LF in turn', {}, 'a,b\r\nx,1\ny,2\r\n"z\r\n",3\n', rows(['x', 1], ['y', 2], ['z\r\n', 3])],
    ['CR inside of quotes', {}, 'a,b\n"x\r\ry",1\n', rows(['x\r\ry', 1])],
    ['no line feed at the end', {}, 'a,b\nx,1', unended('t.csv', ['x', 1])],
    ['a header alone that is not ended', {}, 'a,b', unended('t.csv')],
    ['a header alone', {}, 'a,b\r\n', rows()],
    ['no bytes', {}, '', refused('t.csv is empty: it needs at least a header')],
    ['a byte order mark alone', {}, '\uFEFF', refused('t.csv is empty: it needs at least a header')],
    [
      'no bytes, no header line',
      { header: ['a', 'b'] },
      '',
      refused('t.csv is empty: it needs at least a header'),
    ],
    [
      'a page',
      {},
      '<!DOCTYPE html>\n<html><body>404</body></html>\n',
      refused('t.csv is a page of HTML or XML, perhaps an error page: fetch the CSV itself'),
    ],
    [
      'a page after blank lines',
      {},
      '\n\n  <HTML>\n',
      refused('t.csv is a page of HTML or XML, perhaps an error page: fetch the CSV itself'),
    ],
    ['NUL', {}, 'a,b\nx\0,1\n', bad('line 2: a NUL byte: this is not a text file, or it is damaged')],
    [
      'NUL in the header',
      {},
      'a\0,b\nx,1\n',
      broken(1, 'a NUL byte: this is not a text file, or it is damaged'),
    ],
    [
      'a tail of NULs',
      {},
      `a,b\nx,1\n${'\0'.repeat(3)}`,
      bad('line 3: a NUL byte: this is not a text file, or it is damaged'),
    ],
    ['Ctrl-Z at the end', {}, 'a,b\nx,1\n\u001A', unended('t.csv', ['x', 1])],
    [
      'a row longer than 32 MiB',
      {},
      `a,b\n"${'x'.repeat(33 * 1024 * 1024)}",1\n`,
      broken(
        2,
        'the row is longer than 33554432 bytes: in column 1 ("a"), a quote is stray or the value is too long',
      ),
    ],
    [
      'a row longer than 32 MiB in its second column',
      {},
      `a,b\n1,"${'x'.repeat(33 * 1024 * 1024)}"\n`,
      broken(
        2,
        'the row is longer than 33554432 bytes: in column 2 ("b"), a quote is stray or the value is too long',
      ),
    ],
    [
      'a header longer than 32 MiB',
      {},
      `a,"${'x'.repeat(33 * 1024 * 1024)}"\n1,2\n`,
      broken(
        1,
        'the row is longer than 33554432 bytes: in column 2, a quote is stray or the value is too long',
      ),
    ],
    [
      'a row of 8 MB',
      {},
      `a,b\n"${'é'.repeat(4 * 1024 * 1024 - 8)}",1\n`,
      rows(['é'.repeat(4 * 1024 * 1024 - 8), 1]),
    ],
    [
      'a backslash before a quote',
      {},
      'a,b\n"x\\"y",1\n',
      broken(2, 'text follows the closing quote of a value'),
    ],
    [
      'a quote that is never closed',
      {},
      'a,b\nx,1\n"y,2\nz,3\n',
      broken(3, 'a quoted value is never closed: the file is cut off, or a quote is stray'),
    ],
    ['a quote inside', {}, 'a,b\n5" disk,1\n', broken(2, quoteInside)],
    ['single quotes', { quote: "'" }, "a,b\n'x,''y''\n\"z\"',1\n", rows(['x,\'y\'\n"z"', 1])],
    ['double quotes where single ones are declared', { quote: "'" }, 'a,b\n"x",1\n', rows(['"x"', 1])],
    [
      'no quotes',
      { quote: 'none' },
      'a,b\n5" disk,1\n"x,2\n""",3\n',
      rows(['5" disk', 1], ['"x', 2], ['"""', 3]),
    ],
    [
      'no quotes, and a delimiter in what looks quoted',
      { quote: 'none' },
      'a,b\n"x,y",1\n',
      bad('line 2: the row has 3 values, and the header 2'),
    ],
    ['semicolons', { delimiter: ';' }, 'a;b\nx,y;1\n"z;";2\n', rows(['x,y', 1], ['z;', 2])],
    [
      'semicolons, not declared',
      {},
      'a;b\nx;1\n',
      misfit(
        'the column "a" is missing; the column "b" is missing; the column "a;b" is not a field of d/t',
        'The delimiter may be ";": declare it as source.delimiter. ',
      ),
    ],
    ['tabs', { delimiter: '\t' }, 'a\tb\nx y\t1\n\t2\n', rows(['x y', 1], [null, 2])],
    ['spaces', { delimiter: ' ' }, 'a b\nx 1\n"y z" 2\n 3\n', rows(['x', 1], ['y z', 2], [null, 3])],
    ['bars', { delimiter: '|' }, 'a|b\nx|1\n', rows(['x', 1])],
    ['renamed columns', { rename: { 'Município ': 'a', B: 'b' } }, '"Município ",B\nx,1\n', rows(['x', 1])],
    ['ignored columns', { ignore: ['c', 'd'] }, 'c,a,d,b\n9,x,"8\n",1\n', rows(['x', 1])],
    ['an ignored column twice', { ignore: ['c'] }, 'c,a,c,b\n9,x,8,1\n', rows(['x', 1])],
    ['empty rows', {}, 'a,b\n,\nx,1\n"", \n"""",\ny,2\n,', unended('t.csv', ['x', 1], ['"', null], ['y', 2])],
    ['rules', {}, 'a,b\n---,:--:\nx,1\n======\n--,5\n-,\n', rows(['x', 1], ['--', 5], ['-', null])],
    ['a rule in the only column', {}, 'a\nx\n---\n', rows(['x'], ['---']), ['a:string']],
    [
      'texts to drop',
      { drop: { a: ['Subtotal *', 'Total'], b: '9' } },
      'a,b\nx,1\nSubtotal x,1\n" Total",1\nTotals,2\nNote: Subtotal,3\ny,9\nTotal\n',
      rows(['x', 1], ['Totals', 2], ['Note: Subtotal', 3]),
    ],
    [
      'a text to drop from a column that the header lacks',
      { drop: { total: 'x' } },
      'a,b\nx,1\n',
      misfit('source.drop names the column "total", which is not in the header'),
    ],
    [
      'a header of two lines, the first of merged cells',
      { header_lines: 2, rename: { '2023 M': 'c', '2023 W': 'd', '2024 M': 'e' } },
      'b,2023,,2024,a\n,M,W,M,\n1,2,3,4,x\nb,2023,,2024,a\n',
      bad('line 4: the line repeats the header: source.skip_repeated_headers: true leaves such lines out'),
      ['a:string', 'b:integer', 'c:integer', 'd:integer', 'e:integer'],
    ],
    [
      'a header of two lines, of which the last column is named in the first',
      { header_lines: 2, drop_empty_extra_cells: true, rename: { '2023 M': 'b' } },
      '2023,a,\nM,,\n1,x,\n2,y,\n',
      rows(['x', 1], ['y', 2]),
    ],
    [
      'a header of two lines that `header` replaces',
      { header_lines: 2, header_in_file: ['n', 'n [cm]'], header: ['a', 'b'] },
      '\nn,n\n,[cm]\nx,1\n',
      rows(['x', 1]),
    ],
    ['a constant', { constants: { a: 'AC' } }, 'b\n1\n2\n', rows(['AC', 1], ['AC', 2])],
    [
      'a constant in the dialect of the source',
      { constants: { b: '1,50' }, decimal: ',' },
      'a\nx\n',
      rows(['x', 1.5]),
      ['a:string', 'b:decimal:6:2'],
    ],
    [
      'a constant that is not of its type',
      { constants: { b: '1.5' } },
      'a\nx\n',
      bad(`line 2, field "b": "1.5" ${notInteger}`),
    ],
    [
      'a constant that is a column too',
      { constants: { b: '1' } },
      'a,b\nx,2\n',
      misfit('the column "b" is not a field of d/t (did you mean "a"?)'),
    ],
    ['a column twice', {}, 'a,b,a\nx,1,y\n', misfit('the column "a" appears twice')],
    [
      'a column that differs in case',
      {},
      'A,b\nx,1\n',
      misfit('the column "a" is missing; the column "A" is not a field of d/t (did you mean "a"?)'),
    ],
  ])('with %s is read exactly, or refused', async (_what, source, content, came, fields = ab) => {
    await expect(whatCame({ fields, source, may_be_empty: true }, content)).resolves.toEqual(came)
  })
})
