import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { hidesRows, type Table } from '../../core/catalog/catalog.ts'
import { parseNamePattern } from '../../core/catalog/name-pattern.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import type { Progress } from '../base/progress.ts'
import { detailedRejectsMax, TableFailure, type Reject } from '../base/rejects.ts'
import { BatchWriter, type BatchTaker, type Constants, type Tally } from './batches.ts'
import { totalCounts, type SourceCounts } from './source-counts.ts'
import { decoderOf } from './decode.ts'
import { LastLines } from './last-lines.ts'
import { kindBytes, requireText } from './kinds.ts'
import { CsvScanner } from './scan.ts'
import type { Member, PlacedFile, UnpackLimits } from './member.ts'
import { membersOf } from './members.ts'
import { packingOf } from './packings.ts'

export interface ReadFile {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

/** Describes a line whose UTF-8 was read in another encoding. */
export const misreadText =
  'has texts such as "Ã£", as UTF-8 that was read in another encoding: check source.encoding, or export the file again'

export interface ReadSource {
  /** One per file; all are equal unless `source.union_by_name` is set. */
  readonly headers: readonly {
    readonly file: string
    readonly header: readonly string[]
    readonly constants: Constants
  }[]
  readonly counts: SourceCounts
  /** The first ones, at most `detailedRejectsMax`. */
  readonly rejects: readonly Reject[]
  /** Last row of each file; see `CsvScanner`. */
  readonly lastRows: readonly {
    readonly file: string
    readonly line: number
    readonly column: number
    readonly value: string
    readonly filled: number
  }[]
  /** Line of the first row that begins with a byte order mark; null for none. */
  readonly markLine: number | null
  readonly lineNotes: readonly ({ readonly file: string } & CsvScanner['lineNotes'][number])[]
  readonly afterEmptyRows: CsvScanner['afterEmptyRows']
  readonly lastLines: readonly LastLine[]
  /** Lines that `source.skip_last` leaves out although they have a value in every column. */
  readonly rowsLeftOut: readonly LastLine[]
  readonly filesWithoutStop: readonly string[]
  readonly filesWithoutLastLineFeed: readonly string[]
  readonly lines: ReadonlyMap<number, { file: string; line: number }>
  readonly files: readonly ReadFile[]
  readonly fileCounts: readonly SourceCounts[]
}

interface LastLine {
  readonly file: string
  /** Null if the source has hidden values. */
  readonly text: string | null
}

interface ReadOptions {
  readonly table: Table
  readonly progress: Progress
  readonly limits: UnpackLimits
  /** Receives records in plain form; null to only scan. */
  readonly taker: BatchTaker | null
  /** False leaves each `sha256` empty; default true. */
  readonly hashes?: boolean
  readonly locate?: ReadonlySet<number>
}

/**
 * Decompresses, decodes and scans files in turn, and passes records on (see `CsvScanner`).
 * @throws TableFailure if a file is damaged, does not match its extension, is no valid CSV, or has another
 * header than the first file
 */
export async function readSource(sources: readonly PlacedFile[], options: ReadOptions): Promise<ReadSource> {
  const { table, progress, taker, hashes = true } = options
  const total = sources.reduce((sum, { bytes }) => sum + bytes, 0)
  const scans: Scan[] = []
  // Latest consecutive scans with the same columns, whose counts are summed.
  let sameColumnScans: Scan[] = []
  const files: ReadFile[] = []
  const fileCounts: SourceCounts[] = []
  let [text, bytesRead] = [0, 0]
  const writer = taker === null ? null : new BatchWriter(taker, table.source.delimiter)
  try {
    for (const source of sources) {
      const before = await fingerprintOf(source.path)
      const first = scans.length
      const members = await membersOf(source, table.source.member, options.limits)
      const isReadThrough = packingOf(source.name)?.isReadThrough !== false
      const hash = isReadThrough && hashes ? createHash('sha256') : null
      // For the progress, the members that are read count as the whole zip.
      const share =
        source.bytes /
        Math.max(
          1,
          members.reduce((sum, { bytes }) => sum + bytes, 0),
        )
      for (const member of members) {
        const constants = constantsOf(table, source, member)
        const scan = scanOf(member, constants, scans, options, sources.length + members.length > 2)
        scans.push(scan)
        const { scanner, decode, last } = scan
        let isBegun = false
        const writeRecords = async (records: Buffer): Promise<void> => {
          requireStructure(scans)
          const { header } = scanner
          if (header === null) return
          if (!isBegun) {
            isBegun = true
            if (!table.source.unionByName) requireSameHeader(scan, scans[0], hidesRows(table))
            const isAnother =
              (await writer?.setColumns(header, constants, () => tallyOf(sameColumnScans))) === true
            sameColumnScans = isAnother ? [scan] : [...sameColumnScans, scan]
          }
          if (records.length > 0) await writer?.write(records, () => tallyOf(sameColumnScans))
        }
        const checkStart = startKeeper((start) => requireText(start, table.source.encoding, member.name))
        await member.read({
          onPacked: (chunk) => {
            hash?.update(chunk)
          },
          onText: async (chunk, fraction) => {
            checkStart(chunk)
            text += chunk.length
            const fractionRead = (bytesRead + fraction * member.bytes * share) / total
            progress.advance({
              fraction: fractionRead,
              rows: scan.recordsBefore + scanner.records,
              bytes: text,
            })
            await writeRecords(scanner.push(last.push(decode.write(chunk))))
          },
        })
        bytesRead += member.bytes * share
        await writeRecords(Buffer.concat([scanner.push(last.push(decode.end())), scanner.end()]))
        if (scanner.isShort) {
          throw new TableFailure(
            `${member.name} has no line after the ${table.source.skipLines} skipped ones: reduce source.skip_lines`,
          )
        }
        if (scanner.header === null || scanner.isEmpty)
          throw new TableFailure(`${member.name} is empty: it needs at least a header`)
      }
      const sha256 = hashes ? (hash?.digest('hex') ?? (await hashOf(source.path))) : ''
      if ((await fingerprintOf(source.path)) !== before) {
        throw new TableFailure(
          `${source.name} changed while it was read: run this again when the file is complete`,
        )
      }
      files.push({ name: source.name, bytes: source.bytes, sha256 })
      fileCounts.push(countsOf(scans.slice(first)))
    }
    await writer?.end(() => tallyOf(sameColumnScans))
  } finally {
    await writer?.close()
  }
  return joinScans(scans, files, fileCounts, table)
}

function constantsOf({ source }: Table, { place, constants }: PlacedFile, member: Member): Constants {
  return new Map([...source.constants, ...constants, ...constantsInPath(source.fromName, place, member)])
}

function constantsInPath(pattern: string | null, place: string, { name, inner }: Member): Constants {
  if (pattern === null) return new Map()
  const fullPath = inner === null ? place : `${place}/${inner}`
  // The pattern may omit the extension of a compression: t.csv.gz also matches as t.csv.
  const packing = packingOf(fullPath)
  const unpacked = packing === null ? [] : [fullPath.slice(0, -packing.ending.length)]
  for (const candidate of [fullPath, ...unpacked]) {
    const values = parseNamePattern(pattern)?.read(candidate) ?? null
    if (values === 'ambiguous') {
      throw new TableFailure(
        `the name of ${name} matches source.from_name (${pattern}) in more than one way: write more of the name into the pattern`,
      )
    }
    if (values !== null) return values
  }
  throw new TableFailure(
    `${name} does not match source.from_name (${pattern}): rename the file, or correct the pattern`,
  )
}

async function fingerprintOf(file: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true })
  return [ino, size, mtimeNs, ctimeNs].join()
}

interface Scan {
  readonly file: string
  readonly constants: Constants
  /** True if messages must name the file. */
  readonly isOneOfSeveral: boolean
  readonly recordsBefore: number
  readonly scanner: CsvScanner
  readonly decode: ReturnType<typeof decoderOf>
  readonly last: LastLines
}

function scanOf(
  member: Member,
  constants: Constants,
  earlierScans: readonly Scan[],
  options: ReadOptions,
  isOneOfSeveral: boolean,
): Scan {
  const { source, fields } = options.table
  const before = earlierScans.reduce((sum, { scanner }) => sum + scanner.records, 0)
  const recordsToLocate = [...(options.locate ?? [])].map((record) => record - before)
  const hidingByField = new Map(
    fields.flatMap(({ name, mask, reading: { nulls, trims } }) =>
      mask === null ? [] : [[name, { mask, nulls, trims }] as const],
    ),
  )
  const fieldNameOf = (header: string): string => source.rename.get(header) ?? header
  const scanner = new CsvScanner({
    ...source,
    hidesRows: hidesRows(options.table),
    maskOf: (column) => hidingByField.get(fieldNameOf(column)) ?? null,
    locate: new Set(recordsToLocate),
  })
  return {
    file: member.name,
    constants,
    isOneOfSeveral,
    recordsBefore: before,
    scanner,
    decode: decoderOf(source.encoding, member.name, source.lineTerminator),
    last: new LastLines(source.skipLast, member.name),
  }
}

function startKeeper(check: (start: Buffer) => void): (chunk: Buffer) => void {
  let start = Buffer.alloc(0)
  return (chunk) => {
    if (start.length >= kindBytes) return
    start = Buffer.concat([start, chunk.subarray(0, kindBytes)])
    check(start)
  }
}

function requireStructure(scans: readonly Scan[]): void {
  if (scans.at(-1)?.scanner.hasFault !== true) return
  const faultyRows = 1 + scans.reduce((sum, { scanner }) => sum + scanner.counts.rejectedRows, 0)
  throw new TableFailure('the source cannot be read as CSV; nothing was published', rejectsIn(scans), {
    count: faultyRows,
    remedy: 'correct these lines of the source, or its encoding, delimiter or quote in the catalog',
  })
}

function rejectsIn(scans: readonly Scan[]): Reject[] {
  const notes = scans.flatMap(({ scanner, file, isOneOfSeveral }) =>
    scanner.rejects.map((reject) => (isOneOfSeveral ? { ...reject, file } : reject)),
  )
  // The fault that ended the reading comes last, and is always reported.
  return notes.length <= detailedRejectsMax
    ? notes
    : [...notes.slice(0, detailedRejectsMax - 1), ...notes.slice(-1)]
}

/** Columns or their order differ from the first file. */
export class OtherHeader extends TableFailure {}

function requireSameHeader(scan: Scan, first: Scan | undefined, isHidden: boolean): void {
  const [header, expected] = [scan.scanner.header, first?.scanner.header]
  if (header === null || !expected || scan === first) return
  if (JSON.stringify(header) === JSON.stringify(expected)) return
  const place = header.findIndex((name, index) => name !== expected[index])
  const column = place === -1 ? header.length : place
  const name = (names: readonly string[]): string =>
    isHidden ? 'different' : JSON.stringify(names[column] ?? null)
  throw new OtherHeader(
    `the header of ${scan.file} differs from that of ${first?.file ?? ''}: column ${column + 1} is ` +
      `${name(header)}${isHidden ? '' : ` instead of ${name(expected)}`}`,
  )
}

function tallyOf(scans: readonly Scan[]): Tally {
  const scanners = scans.map(({ scanner }) => scanner)
  const [firstScan] = scans
  const [first = [], ...furtherColumns] = scanners.map(({ columns }) => columns)
  return {
    header: firstScan?.scanner.header ?? [],
    headerLine: firstScan?.scanner.headerLine ?? null,
    headerFile: firstScan?.isOneOfSeveral === true ? firstScan.file : null,
    columns: first.map(({ filled, bytes }, index) => ({
      filled: furtherColumns.reduce((total, counts) => total + (counts[index]?.filled ?? 0), filled),
      bytes: furtherColumns.reduce((total, counts) => total + (counts[index]?.bytes ?? 0), bytes),
    })),
    records: scanners.reduce((total, { records }) => total + records, 0),
    valueLineFeeds: scanners.reduce((total, { counts: { breaks } }) => total + breaks, 0),
    longestRecordBytes: Math.max(0, ...scanners.map(({ longest }) => longest)),
  }
}

function countsOf(scans: readonly Scan[]): SourceCounts {
  return totalCounts(
    scans.map(({ scanner: { counts }, last: { count } }) => ({
      ...counts,
      total: counts.total + count,
      last: counts.last + count,
    })),
  )
}

function joinScans(
  scans: readonly Scan[],
  files: readonly ReadFile[],
  fileCounts: readonly SourceCounts[],
  table: Table,
): ReadSource {
  const hidesText = hidesRows(table)
  const lines = new Map<number, { file: string; line: number }>()
  for (const { scanner, recordsBefore: before, file } of scans) {
    for (const [record, line] of scanner.lines) lines.set(record + before, { file, line })
  }
  return {
    headers: scans.map(({ file, constants, scanner }) => ({ file, constants, header: scanner.header ?? [] })),
    counts: totalCounts(fileCounts),
    lastRows: scans.flatMap(({ file, scanner: { lastRow } }) =>
      lastRow === null ? [] : [{ file, ...lastRow }],
    ),
    markLine: scans.find(({ scanner }) => scanner.markLine !== null)?.scanner.markLine ?? null,
    lineNotes: scans.flatMap(({ file, scanner }) => scanner.lineNotes.map((note) => ({ file, ...note }))),
    afterEmptyRows: scans.flatMap(({ scanner }) => scanner.afterEmptyRows),
    rejects: rejectsIn(scans),
    lastLines: scans.flatMap(({ file, last: linesAtEnd, scanner: { hasFoundStopLine, footer, counts } }) => {
      const countPrefix = counts.last > 1 ? `${counts.last.toLocaleString('en')} lines from: ` : ''
      const texts = [...(hasFoundStopLine ? [`${countPrefix}${footer}`] : []), ...linesAtEnd.lines]
      return texts.map((text) => ({ file, text: hidesText ? null : text }))
    }),
    rowsLeftOut: scans.flatMap(({ file, last: linesAtEnd, scanner }) =>
      linesAtEnd.lines
        .filter((line) => scanner.isLikeRow(line))
        .map((text) => ({ file, text: hidesText ? null : text })),
    ),
    filesWithoutStop:
      table.source.stopAt === null
        ? []
        : scans.filter(({ scanner }) => !scanner.hasFoundStopLine).map(({ file }) => file),
    filesWithoutLastLineFeed: scans
      .filter(({ scanner }) => !scanner.endsWithLineFeed)
      .map(({ file }) => file),
    lines,
    files,
    fileCounts,
  }
}
