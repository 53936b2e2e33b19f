import { bad, broken, misfit, titleHint, refused, rows, whatCame, type Came } from '../support/declared.ts'
import { testSampled } from '../../support/runs.ts'

/** Traps in encodings: a source either loads to the rows that stand here, or is refused with these words. */

const ab = ['a:string', 'b:integer']
const notUtf8 = (byte: string): string =>
  `the byte ${byte} is not UTF-8: declare the encoding of the source as source.encoding, or save the file as UTF-8 (CSV UTF-8 in Excel)`
const bytes = (...parts: (string | number[])[]): Buffer =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  )
const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()
const notIn = (byte: string, encoding: string): Came =>
  bad(
    `line 2: the byte ${byte} is not ${encoding}: declare the encoding that the file has now as source.encoding, such as utf-8`,
  )
const half = (unit: string): Came =>
  bad(
    `line 2: an unpaired surrogate (${unit}) is not valid UTF-16: check source.encoding, or fetch the file again`,
  )
const isUtf8 = (encoding: string): Came =>
  refused(
    `t.csv is UTF-8, but its table is read as ${encoding}: declare utf-8 as source.encoding, and save files of the table that are still ${encoding} as UTF-8`,
  )
const isUtf16 = refused('t.csv is UTF-16 text: declare utf-16 as source.encoding')
const noMark = refused('t.csv has no UTF-16 byte order mark: declare utf-16le or utf-16be as source.encoding')
const cutOff = refused('t.csv ends within a UTF-16 character, so it is cut off: fetch it again')

// Files are read a MiB at a time, which ends within one of these characters in any encoding.
const long = `\uFEFFa,b\n${'😀'.repeat(300_000)},1\n`

describe('encodings', () => {
  testSampled<[title: string, encoding: string, content: string | Uint8Array, came: Came]>([
    ['UTF-8 with its mark', 'utf-8', '\uFEFFa,b\né😀,1\n', rows(['é😀', 1])],
    ['a mark that begins a value', 'utf-8', 'a,b\n\uFEFFx,1\n', rows(['\uFEFFx', 1])],
    ['a mark that begins a quoted value', 'utf-8', 'a,b\n"\uFEFFx",1\n', rows(['\uFEFFx', 1])],
    [
      'a mark that begins a value',
      'utf-16le',
      Buffer.from('a,b\n\uFEFFx,1\n', 'utf16le'),
      rows(['\uFEFFx', 1]),
    ],
    ['UTF-8', 'latin-1', 'a,b\nSão,1\n', isUtf8('latin-1')],
    ['UTF-8', 'windows-1252', 'a,b\nSão,1\n', isUtf8('windows-1252')],
    [
      'UTF-8 with its mark',
      'latin-1',
      '\uFEFFa,b\nx,1\n',
      refused('t.csv is UTF-8 text: declare utf-8 as source.encoding'),
    ],
    ['UTF-8', 'utf-16', 'a,b\nSão,1\n', noMark],
    ['ASCII', 'latin-1', 'a,b\nSao,1\n', rows(['Sao', 1])],
    [
      'ASCII',
      'utf-16le',
      'a,b\nx,1\n',
      misfit(
        `the column "a" is missing; the column "b" is missing; the column "${Buffer.from('a,b\nx,1\n').toString('utf16le')}" is not a field of d/t`,
        titleHint,
      ),
    ],
    [
      'every character',
      'latin-1',
      bytes(
        'a,b\n',
        Array.from({ length: 96 }, (_, at) => 0xa0 + at),
        ',1\n',
      ),
      rows([Array.from({ length: 96 }, (_, at) => String.fromCharCode(0xa0 + at)).join(''), 1]),
    ],
    ['a cut character that is one in Latin-1', 'latin-1', bytes('a,b\nx', [0xc3], ',1\n'), rows(['xÃ', 1])],
    [
      'characters that windows-1252 adds to Latin-1',
      'windows-1252',
      bytes('a,b\n', [0x80, 0x82, 0x85, 0x8a, 0x8c, 0x91, 0x92, 0x93, 0x94, 0x96, 0x97, 0x99, 0x9f], ',1\n'),
      rows(['€‚…ŠŒ‘’“”–—™Ÿ', 1]),
    ],
    ...[0x80, 0x85, 0x92, 0x96, 0x9f].map((byte): [string, string, Buffer, Came] => [
      `a byte that only windows-1252 uses (${byte})`,
      'latin-1',
      bytes('a,b\nx', [byte], ',1\n'),
      notIn(`0x${byte.toString(16)}`, 'latin-1'),
    ]),
    ...[0x81, 0x8d, 0x8f, 0x90, 0x9d].map((byte): [string, string, Buffer, Came] => [
      `a byte that windows-1252 does not use (${byte})`,
      'windows-1252',
      bytes('a,b\nx', [byte], ',1\n'),
      notIn(`0x${byte.toString(16)}`, 'windows-1252'),
    ]),
    [
      'a byte that UTF-8 never has',
      'utf-8',
      bytes('a,b\nx', [0xff], ',1\n'),
      bad(`line 2: ${notUtf8('0xff')}`),
    ],
    ['a character cut off', 'utf-8', bytes('a,b\nx,1\ny', [0xe2, 0x82]), bad(`line 3: ${notUtf8('0xe2')}`)],
    ['a surrogate', 'utf-8', bytes('a,b\nx', [0xed, 0xa0, 0x80], ',1\n'), bad(`line 2: ${notUtf8('0xed')}`)],
    [
      'more bytes than a character takes',
      'utf-8',
      bytes('a,b\nx', [0xc0, 0xaf], ',1\n'),
      bad(`line 2: ${notUtf8('0xc0')}`),
    ],
    [
      'a code beyond the last character',
      'utf-8',
      bytes('a,b\nx', [0xf4, 0x90, 0x80, 0x80], ',1\n'),
      bad(`line 2: ${notUtf8('0xf4')}`),
    ],
    ['a bad byte in the header', 'utf-8', bytes('a', [0xe3], ',b\nx,1\n'), broken(1, notUtf8('0xe3'))],
    ['UTF-16LE with its mark', 'utf-16', Buffer.from('\uFEFFa,b\né😀,1\n', 'utf16le'), rows(['é😀', 1])],
    ['UTF-16BE with its mark', 'utf-16', utf16be('\uFEFFa,b\né😀,1\n'), rows(['é😀', 1])],
    ['UTF-16LE with its mark', 'utf-16le', Buffer.from('\uFEFFa,b\nx,1\n', 'utf16le'), rows(['x', 1])],
    ['UTF-16LE with its mark', 'utf-16be', Buffer.from('\uFEFFa,b\nx,1\n', 'utf16le'), isUtf16],
    ['UTF-16LE with its mark', 'utf-8', Buffer.from('\uFEFFa,b\nx,1\n', 'utf16le'), isUtf16],
    ['UTF-16LE', 'utf-16le', Buffer.from('a,b\né😀,1\n', 'utf16le'), rows(['é😀', 1])],
    ['UTF-16BE', 'utf-16be', utf16be('a,b\né😀,1\n'), rows(['é😀', 1])],
    ['UTF-16LE', 'utf-16', Buffer.from('a,b\nx,1\n', 'utf16le'), noMark],
    [
      'UTF-16LE',
      'utf-8',
      Buffer.from('a,b\nx,1\n', 'utf16le'),
      broken(1, 'a NUL byte: this is not a text file, or it is damaged'),
    ],
    ['half a surrogate pair', 'utf-16le', Buffer.from('a,b\nx\uD83D,1\n', 'utf16le'), half('0xd83d')],
    ['the second half of a surrogate pair', 'utf-16be', utf16be('a,b\nx\uDE00y,1\n'), half('0xde00')],
    [
      'half a surrogate pair at the end',
      'utf-16le',
      Buffer.from('a,b\nx,1\uD83D', 'utf16le'),
      half('0xd83d'),
    ],
    ['half a surrogate pair at the end', 'utf-16be', utf16be('a,b\nx,1\uD83D'), half('0xd83d')],
    [
      'pairs cut by the end of a chunk',
      'utf-16le',
      Buffer.from(long, 'utf16le'),
      rows(['😀'.repeat(300_000), 1]),
    ],
    ['pairs cut by the end of a chunk', 'utf-16be', utf16be(long), rows(['😀'.repeat(300_000), 1])],
    ['characters cut by the end of a chunk', 'utf-8', long, rows(['😀'.repeat(300_000), 1])],
    ['characters cut by the end of a chunk', 'windows-1252', long.slice(1), isUtf8('windows-1252')],
    ['an odd length', 'utf-16le', Buffer.from('a,b\nx,1\n', 'utf16le').subarray(0, -1), cutOff],
    ['one byte', 'utf-16', Buffer.from([0xff]), cutOff],
    [
      'a mark alone',
      'utf-16',
      Buffer.from('\uFEFF', 'utf16le'),
      refused('t.csv is empty: it needs at least a header'),
    ],
  ])('are read exactly or refused: %s, declared as %s', async (_what, encoding, content, came) => {
    await expect(whatCame({ fields: ab, source: { encoding } }, content)).resolves.toEqual(came)
  })
})
