import { TableFailure } from '../base/rejects.ts'
import { CsvScanner } from '../source/scan.ts'
import { decoderOf } from '../source/decode.ts'
import { LastLines } from '../source/last-lines.ts'
import type { Member } from '../source/member.ts'
import { LF, recordValues } from '../source/record.ts'
import { RecordBounds } from '../source/bounds.ts'
import { commonDelimiters, recordBytesMax } from '../source/soundness.ts'
import { dialectOf, type Dialect } from './dialect.ts'
import { EncodingWitness } from './encoding.ts'

const dialectBytes = 1024 * 1024
const sampleBytes = 4 * 1024 * 1024
const textsMax = 3000
/** Distance between inspected rows, so that texts come from the whole sample, even if sorted. */
const stride = 97
const allRowsMax = 50_000

interface Sample {
  readonly dialect: Dialect
  readonly texts: readonly ReadonlyMap<string, number>[]
  readonly rows: readonly SampleRow[] | null
  readonly firstRows: readonly SampleRow[]
}

export interface SampleRow {
  readonly line: number
  readonly values: readonly string[]
}

class Enough extends TableFailure {}

export async function encodingOf(members: readonly Member[]): Promise<EncodingWitness['encoding']> {
  const witness = new EncodingWitness()
  for (const member of members) {
    await member.read({
      onPacked: () => undefined,
      onText: (chunk) => {
        witness.inspect(chunk)
        return Promise.resolve()
      },
    })
  }
  return witness.encoding
}

/** @throws TableFailure if the file is not a CSV that can be read without guessing */
export async function sampleOf(member: Member): Promise<Sample> {
  const start = await startOf(member, sampleBytes)
  const isAll = start.isComplete && start.bytes.length <= dialectBytes
  try {
    if (isAll || !endsInValue(start.bytes.subarray(0, dialectBytes))) return sampleIn(start, dialectBytes)
  } catch (error) {
    if (isAll || !(error instanceof TableFailure)) throw error
  }
  // A long value may fill the whole start, so a larger start is read.
  return sampleIn(await startOf(member, sampleBytes + recordBytesMax), sampleBytes + recordBytesMax)
}

function endsInValue(text: Buffer): boolean {
  return commonDelimiters.some((delimiter) => {
    const bounds = new RecordBounds({ delimiter: delimiter.charCodeAt(0), quote: '"'.charCodeAt(0) })
    let offset = 0
    while (bounds.find(text, offset)) offset = bounds.next
    return bounds.fault === null && text.length - offset > text.length / 2
  })
}

interface Start {
  readonly bytes: Buffer
  readonly isComplete: boolean
  readonly encoding: EncodingWitness['encoding']
}

async function startOf(member: Member, bytesMax: number): Promise<Start> {
  const witness = new EncodingWitness()
  const chunks: Buffer[] = []
  let bytes = 0
  let isComplete = true
  try {
    await member.read({
      onPacked: () => undefined,
      onText: (chunk) => {
        witness.inspect(chunk)
        chunks.push(chunk)
        bytes += chunk.length
        return bytes < bytesMax ? Promise.resolve() : Promise.reject(new Enough('enough'))
      },
    })
  } catch (error) {
    if (!(error instanceof Enough)) throw error
    isComplete = false
  }
  return { bytes: Buffer.concat(chunks), isComplete, encoding: witness.encoding }
}

function sampleIn({ bytes, isComplete, encoding }: Start, bytesMax: number): Sample {
  const start = bytes.subarray(0, bytesMax)
  const dialect = dialectOf(start, isComplete && start.length === bytes.length, encoding)
  const rows = rowsIn(bytes, isComplete, dialect)
  const texts = textsIn(rows, dialect.firstLine.length)
  const firstRows = rows.slice(0, allRowsMax)
  return { dialect, texts, rows: isComplete && firstRows.length === rows.length ? rows : null, firstRows }
}

function rowsIn(bytes: Buffer, isComplete: boolean, dialect: Dialect): SampleRow[] {
  const {
    delimiter,
    quote,
    encoding,
    lineTerminator,
    skipLines,
    headerLines,
    comment,
    lastLines,
    hasHeader,
    firstLine,
  } = dialect
  const decoder = decoderOf(encoding, 'the sample', lineTerminator)
  const scanner = new CsvScanner({
    delimiter,
    quote,
    skipLines,
    headerLines,
    header: hasHeader ? null : firstLine.map((_, index) => String(index)),
    encoding,
    comment,
    stopAt: null,
    headerInFile: null,
    skipRepeatedHeaders: true,
    // An unnamed last column has values here.
    dropEmptyExtraCells: !hasHeader || firstLine.at(-1)?.trim() !== '',
    hidesRows: false,
    maskOf: () => null,
    // The scanner notes the line of every record.
    locate: { has: () => true },
  })
  const last = new LastLines(lastLines, 'the sample')
  const pieces = [scanner.push(last.push(decoder.write(bytes)))]
  if (isComplete && !scanner.hasFault) pieces.push(scanner.push(last.push(decoder.end())), scanner.end())
  const records = recordsIn(Buffer.concat(pieces), delimiter, quote)
  return records.map((values, index) => ({ values, line: scanner.lines.get(index) ?? 0 }))
}

export function textsIn(rows: readonly SampleRow[], columns: number): Map<string, number>[] {
  const texts = Array.from({ length: columns }, () => new Map<string, number>())
  for (let from = 0; from < stride; from += 1) {
    for (let number = from; number < rows.length; number += stride) {
      for (const [index, text] of (rows[number]?.values ?? []).entries()) {
        const rowText = texts[index]
        if (rowText === undefined || text === '') continue
        const count = rowText.get(text)
        if (count !== undefined || rowText.size < textsMax) rowText.set(text, (count ?? 0) + 1)
      }
    }
  }
  return texts
}

function recordsIn(plain: Buffer, delimiter: string, quote: string | null): string[][] {
  const marks = { delimiter: delimiter.charCodeAt(0), quote: quote?.charCodeAt(0) ?? -1 }
  const bounds = new RecordBounds(marks)
  const records: string[][] = []
  for (let start = 0; start < plain.length && bounds.find(plain, start); start = bounds.next)
    records.push(recordValues(plain.subarray(start, bounds.end), marks))
  return plain.at(-1) === LF || plain.length === 0 ? records : records.slice(0, -1)
}
