import { TableFailure } from '../base/rejects.ts'
import { packings, type PackingRow } from './packings.ts'

const foreign: readonly Kind[] = [
  {
    bytes: [0xd0, 0xcf, 0x11, 0xe0],
    description: 'an old Excel or Word file',
    remedy: 'export the sheet as CSV',
  },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a], description: 'an xz file', remedy: 'unpack it' },
  {
    bytes: [0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26],
    description: 'a bzip2 file',
    remedy: 'unpack it',
  },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf], description: 'a 7z file', remedy: 'unpack it' },
  { bytes: [0x52, 0x61, 0x72, 0x21], description: 'a rar file', remedy: 'unpack it' },
  { bytes: [0x50, 0x41, 0x52, 0x31, 0x15], description: 'a Parquet file', remedy: 'export it as CSV' },
  {
    bytes: [0x25, 0x50, 0x44, 0x46],
    description: 'a PDF file',
    remedy: 'find the CSV that it was made from',
  },
]

interface Kind {
  readonly bytes: readonly number[]
  readonly description: string
  readonly remedy: string
}

const starts: readonly Kind[] = [
  ...packings.flatMap(({ start, description, remedy }) =>
    start === null ? [] : [{ bytes: start, description, remedy }],
  ),
  ...foreign,
]

const marks = [
  { bytes: [0xff, 0xfe], encodings: ['utf-16', 'utf-16le'], description: 'UTF-16 text' },
  { bytes: [0xfe, 0xff], encodings: ['utf-16', 'utf-16be'], description: 'UTF-16 text' },
  { bytes: [0xef, 0xbb, 0xbf], encodings: ['utf-8'], description: 'UTF-8 text' },
] as const

export const kindBytes = 64

/**
 * Requires that a file starts as its extension promises.
 * @param packing by the extension; null for plain text
 * @throws TableFailure that names the actual kind
 */
export function requirePacking(start: Buffer, packing: PackingRow | null, name: string): void {
  const match = starts.find(({ bytes }) => startsWith(start, bytes))
  if (match?.bytes === (packing?.start ?? undefined)) return
  if (match !== undefined) throw new TableFailure(`${name} is ${match.description}: ${match.remedy}`)
  // The message omits the first bytes, which may contain values that must be hidden.
  const empty = start.length === 0 ? ': it is empty' : ''
  throw new TableFailure(
    `${name} is not ${packing?.description ?? 'compressed'}, although its name says so${empty || ': rename it, or compress it again'}`,
  )
}

/** @throws TableFailure if CSV text starts like another kind of file, or another encoding */
export function requireText(start: Buffer, encoding: string, name: string): void {
  const match = starts.find(({ bytes }) => startsWith(start, bytes))
  if (match !== undefined) throw new TableFailure(`${name} is ${match.description}: ${match.remedy}`)
  const mark = marks.find(({ bytes }) => startsWith(start, bytes))
  if (mark !== undefined && !(mark.encodings as readonly string[]).includes(encoding)) {
    throw new TableFailure(`${name} is ${mark.description}: declare ${mark.encodings[0]} as source.encoding`)
  }
  const text = start.toString('latin1').replace(/^ï»¿/, '').trimStart().toLowerCase()
  if (/^<(!doctype|html|\?xml|head|body)\b/.test(text)) {
    throw new TableFailure(`${name} is a page of HTML or XML, perhaps an error page: fetch the CSV itself`)
  }
}

function startsWith(start: Buffer, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => start[index] === byte)
}
