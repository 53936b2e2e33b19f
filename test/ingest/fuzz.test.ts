import { rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import type { Connection } from '../../core/duckdb/connection.ts'
import { Database } from '../../core/duckdb/database.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { quotedText } from '../../core/sql.ts'
import { matchHeader } from '../../ingest/convert/cast/match.ts'
import { silentProgress } from '../../ingest/base/progress.ts'
import { rejectLine, TableFailure } from '../../ingest/base/rejects.ts'
import { outcomeLines, type Outcome } from '../../ingest/job/report.ts'
import { readSource } from '../../ingest/source/read.ts'
import { LastLines } from '../../ingest/source/last-lines.ts'
import { CsvScanner } from '../../ingest/source/scan.ts'
import { escapedPattern } from '../../core/text.ts'
import { damaged, damages, dialect, fileOf, isNoRow, namesOf, type Dialect } from './support/csv-texts.ts'
import { declared } from './support/declared.ts'
import { temporaryFolder, workshop, type Workshop, placed } from '../support/workshop.ts'
import { runsOf, seed } from '../support/runs.ts'

/**
 * Any file, valid or not: what is published is exactly what was written, or nothing is.
 *
 * A whole ingest takes some 150 ms, so the files of a batch are the files of one table and are ingested together, to
 * Parquet that is read back; the rows of the table must be those of the files in turn. FUZZ_RUNS files are made for
 * each test here (20,000 take some minutes).
 */
const files = runsOf('FUZZ_RUNS')
const batchFiles = 50
const batches = { numRuns: Math.ceil(files / batchFiles), endOnFailure: true, seed }
const timeoutMs = 30_000 + 60 * files
/** No file here is large: one that takes so long is as bad as one that never ends. */
const fileMsMax = 5000

let db: Connection
let close: () => void
beforeAll(async () => {
  const scratch = await temporaryFolder()
  const database = await Database.open({ memory: '100MB', threads: 1, scratch, folders: [os.tmpdir()] })
  db = await database.connect()
  close = () => {
    db.close()
    database.close()
  }
})
afterAll(() => {
  close()
})

type Row = readonly (string | null)[]

async function publishedRows(shop: Workshop, outcome: Outcome | undefined): Promise<Row[]> {
  if (outcome?.status !== 'published') {
    throw new Error(outcome === undefined ? 'no outcome' : outcomeLines(outcome).join('\n') || outcome.status)
  }
  const { table, manifest } = outcome
  const folder = path.join(shop.warehouse, layout.snapshot(table, manifest.snapshot))
  // A mark of byte order at the start of a text would be lost on its way to JavaScript.
  const columns = table.fields.map(({ name }) => `'=' || ${name}`).join(', ')
  const rowsRead: Row[] = []
  for (const { file } of manifest.parts) {
    const part = quotedText(path.join(folder, file))
    const rows = await db.rows(
      `select ${columns} from read_parquet(${part}, file_row_number = true) order by file_row_number`,
    )
    rowsRead.push(...rows.map((row) => row.map((text) => (text === null ? null : String(text).slice(1)))))
  }
  return rowsRead
}

const meant = (values: readonly string[]): Row => values.map((text) => (text === '' ? null : text))

/** Long lists compare fast, and show only the first row that differs, with the file that it is of. */
function expectSameRows(actual: readonly Row[], wanted: readonly { row: Row; file: string }[]): void {
  const at = wanted.findIndex(({ row }, index) => JSON.stringify(row) !== JSON.stringify(actual[index]))
  const shown = at === -1 ? wanted.length - 1 : at
  expect({ row: actual[shown], file: wanted[shown]?.file, count: actual.length }).toEqual({
    row: wanted[shown]?.row,
    file: wanted[shown]?.file,
    count: wanted.length,
  })
}

const sourceOf = ({ delimiter, quote }: Dialect): object => ({ delimiter, quote })
const fieldsOf = (form: Dialect): string[] => namesOf(form).map((name) => `${name}:string`)
const encodings = ['utf-8', 'utf-8', 'utf-8', 'utf-16', 'utf-16le', 'utf-16be'] as const

function encoded(text: string, encoding: (typeof encodings)[number], hasMark: boolean): Buffer {
  const marked = (hasMark || encoding === 'utf-16' ? '\uFEFF' : '') + text
  if (encoding === 'utf-8') return Buffer.from(marked)
  const bytes = Buffer.from(marked, 'utf16le')
  return encoding === 'utf-16be' ? bytes.swap16() : bytes
}

const validBatch = dialect.chain((form) =>
  fc.record({
    form: fc.constant(form),
    encoding: fc.constantFrom(...encodings),
    written: fc.array(
      fc.record({ file: fileOf(form), hasMark: fc.boolean(), isPacked: fc.nat({ max: 9 }) }),
      {
        minLength: batchFiles,
        maxLength: batchFiles,
      },
    ),
  }),
)

test(
  'valid files are published row by row as they were written',
  async () => {
    await fc.assert(
      fc.asyncProperty(validBatch, async ({ form, encoding, written }) => {
        const source = { ...sourceOf(form), encoding, files: 'd/*' }
        const shop = await workshop(declared({ fields: fieldsOf(form), source, may_be_empty: true }))
        const names = written.map(
          ({ isPacked }, at) => `${String(at).padStart(4, '0')}.csv${isPacked === 0 ? '.gz' : ''}`,
        )
        for (const [index, { file, hasMark, isPacked }] of written.entries()) {
          const bytes = encoded(file.text, encoding, hasMark)
          await shop.write(`d/${names[index]}`, isPacked === 0 ? gzipSync(bytes, { level: 1 }) : bytes)
        }
        const [outcome] = await shop.ingest()
        const actual = await publishedRows(shop, outcome)
        expectSameRows(
          actual,
          written.flatMap(({ file }) => file.rows.map((row) => ({ row: meant(row), file: file.text }))),
        )
        if (outcome?.status !== 'published') throw new Error('it was published')
        const { blank_lines, rejected_rows } = outcome.report
        // Random rows may look like notes or totals.
        const warnings = outcome.report.warnings.filter((warning) => warning.startsWith('the last line'))
        expect({ blank_lines, warnings, rejected_rows }).toEqual({
          blank_lines: written.reduce((sum, { file }) => sum + file.blankLines, 0),
          warnings: names
            .filter((_, index) => written[index]?.file.isEnded === false)
            .map((name) => `the last line of ${name} has no line ending: check that the file is complete`),
          rejected_rows: 0,
        })
        await rm(path.dirname(shop.sources), { recursive: true })
      }),
      batches,
    )
  },
  timeoutMs,
)

/** Reads a file with an independent strict parser; null if that refuses it. */
function independentReading(bytes: Buffer, { columns, delimiter, quote }: Dialect): Row[] | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const mark = quote === 'none' ? null : quote
    const [header, ...rows] = parse(columns === 1 ? text.replace(/^(\r?\n)+/, '') : text, {
      delimiter,
      quote: mark,
      escape: mark,
      record_delimiter: ['\r\n', '\n'],
      // In a file of one column a blank line after the header is a row.
      skip_empty_lines: columns > 1,
      relax_column_count: true,
    })
    const kept = rows.filter((row) => columns === 1 || !isNoRow(row))
    if (header === undefined || kept.some(({ length }) => length !== header.length)) return null
    return [header, ...kept.map(meant)]
  } catch {
    return null
  }
}

/**
 * Why a file may be refused that the other parser reads: it takes a carriage return outside of quotes, and NUL, as
 * letters like any other, while they are signs of a damaged file, or of old Mac line ends, and refused here. Such a
 * refusal may come with others that follow from it.
 */
const isStricter = (refusal: string, content: Buffer): boolean =>
  // After a closing quote it takes a NUL for the end of the text, and here that is text after a quote.
  content.includes(0) || refusal.includes('a carriage return without a line feed')

/** A file read on its own -> why it is refused; null where it is taken. */
async function refusalOf(shop: Workshop, name: string, bytes: number): Promise<string | null> {
  const table = shop.catalog.datasets.get('d')?.tables.get('t')
  if (table === undefined) throw new Error('no table')
  try {
    const read = await readSource([placed(path.join(shop.sources, name), name, bytes)], {
      table,
      progress: silentProgress,
      limits: { unpackedBytesMax: 1e9 },
      taker: null,
    })
    matchHeader(
      table,
      { header: read.headers[0]?.header ?? [], headerLine: null, headerFile: null },
      new Set(),
      false,
    )
    return read.counts.rejectedRows === 0 ? null : read.rejects.map(rejectLine).join('\n')
  } catch (error) {
    if (!(error instanceof TableFailure)) throw error
    return [error.message, ...error.rejects.map(rejectLine)].join('\n')
  }
}

/** Blanks or `=` beside a quote, which the other parser refuses. */
function mayHaveLooseQuotes(bytes: Buffer, { delimiter, quote }: Dialect): boolean {
  const sign = escapedPattern(delimiter)
  return new RegExp(`(^|\\n|${sign})[ \\t]*([ \\t]|=)${quote}|${quote}[ \\t]+(${sign}|\\r?\\n|$)`).test(
    bytes.toString('latin1'),
  )
}

const damagedBatch = dialect.chain((form) =>
  fc.record({
    form: fc.constant(form),
    bytes: fc.array(
      fc
        .tuple(fileOf(form), damages, fc.nat({ max: 9 }))
        // One in ten only has its columns in another order, in the header and in some of the rows or none.
        .map(([file, damageList, kind]) =>
          kind === 0
            ? Buffer.from(file.text.replace(/^"?c0"?(.)"?c1"?/, 'c1$1c0'))
            : damaged(file.text, form, damageList),
        ),
      { minLength: batchFiles, maxLength: batchFiles },
    ),
  }),
)

test(
  'damaged files give the rows that an independent strict parser reads, or are refused',
  async () => {
    const counts = { taken: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(damagedBatch, async ({ form, bytes }) => {
        const shop = await workshop(declared({ fields: fieldsOf(form), source: sourceOf(form) }))
        const groups = new Map<string, { name: string; file: string; rows: Row[] }[]>()
        for (const [index, content] of bytes.entries()) {
          const name = `d/${index}.csv`
          const file = JSON.stringify(content.toString('latin1'))
          await shop.write(name, content)
          const began = performance.now()
          if (mayHaveLooseQuotes(content, form)) continue
          const refusal = await refusalOf(shop, name, content.length)
          if (performance.now() - began > fileMsMax) throw new Error(`${file} took too long`)
          const [header, ...rows] = independentReading(content, form) ?? []
          const isHeaderGood = JSON.stringify(header?.toSorted()) === JSON.stringify(namesOf(form))
          if (refusal !== null) {
            counts.refused += 1
            if (isHeaderGood && !isStricter(refusal, content))
              throw new Error(`${file} is good, and refused: ${refusal}`)
            continue
          }
          counts.taken += 1
          if (header === undefined || !isHeaderGood) throw new Error(`${file} is taken, and is not good`)
          const places = namesOf(form).map((column) => header.indexOf(column))
          const reordered = { name, file, rows: rows.map((row) => places.map((place) => row[place] ?? null)) }
          groups.set(header.join(), [...(groups.get(header.join()) ?? []), reordered])
        }
        // Files with the same header are those of one table.
        const tables = [...groups.values()]
        const catalog = declared(
          ...tables.map((group, index) => ({
            name: `t${index}`,
            fields: fieldsOf(form),
            source: { ...sourceOf(form), files: group.map(({ name }) => name) },
            may_be_empty: true,
          })),
        )
        const together = await workshop(catalog)
        const outcomes = await together.ingest({ sources: shop.sources })
        for (const [index, group] of tables.entries()) {
          const outcome = outcomes.find(({ table }) => table.name === `t${index}`)
          expectSameRows(
            await publishedRows(together, outcome),
            group.flatMap(({ file, rows }) => rows.map((row) => ({ row, file }))),
          )
        }
        for (const { sources } of [shop, together])
          await rm(path.dirname(sources), { recursive: true, force: true })
      }),
      batches,
    )
    // Damage that is always refused, or never, would test nothing.
    expect(counts).toEqual({ taken: expect.any(Number), refused: expect.any(Number) })
    expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(files / 10)
  },
  timeoutMs,
)

/** Lines that are no rows: at the ends, and comments. */
interface Aside {
  readonly skipLines: number
  readonly skipLast: number
  readonly comment: string | null
  readonly stopAt: string | null
}

function scanned(chunks: readonly Buffer[], { delimiter, quote }: Dialect, aside: Aside) {
  const last = new LastLines(aside.skipLast, 'it')
  const scanner = new CsvScanner({
    delimiter,
    quote: quote === 'none' ? null : quote,
    ...aside,
    header: null,
    encoding: 'utf-8',
    hidesRows: false,
    headerInFile: null,
    headerLines: 1,
    skipRepeatedHeaders: false,
    dropEmptyExtraCells: false,
    maskOf: () => null,
    locate: new Set([0, 1, 2, 3]),
  })
  // Nothing is read after a fault of structure.
  const pieces = chunks.map((chunk) =>
    scanner.hasFault ? chunk : scanner.push(last.push(Buffer.from(chunk))),
  )
  if (!scanner.hasFault) pieces.push(scanner.end())
  const plain = Buffer.concat(pieces).toString('latin1')
  const { hasFault: stopped, header, rejects, counts } = scanner
  // Records before a fault depend on the chunks; none of them is used.
  if (stopped) return { header, rejects, rejectedRows: counts.rejectedRows }
  const { columns, hasFoundStopLine: isEnded, endsWithLineFeed, lines } = scanner
  return {
    header,
    rejects,
    counts,
    plain,
    columns,
    isEnded,
    endsWithLineFeed,
    lines,
    last: last.lines,
  }
}

const cutFile = dialect.chain((form) =>
  fc.record({
    form: fc.constant(form),
    content: fc
      .tuple(fileOf(form), damages, fc.boolean())
      .map(([file, damageList, isWhole]) =>
        isWhole ? Buffer.from(file.text) : damaged(file.text, form, damageList),
      ),
    cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
    isInBytes: fc.boolean(),
    skipLast: fc.integer({ min: 0, max: 3 }),
    lines: fc.array(fc.nat({ max: 8 }), { maxLength: 2 }),
  }),
)

/** Returns the start of a line of a file, if it exists. */
function beginningOf(content: Buffer, line: number | undefined): string | null {
  const text = line === undefined ? undefined : content.toString('utf8').split('\n')[line]
  return text === undefined || text.length < 2 || text.includes('\uFFFD') ? null : text.slice(0, 2)
}

test.each([0, 1, 3])(
  'files with %i lines before the header are read the same however their bytes are cut',
  (skipLines) => {
    fc.assert(
      fc.property(cutFile, ({ form, content, cuts, isInBytes, skipLast, lines }) => {
        const ends = isInBytes
          ? Array.from(content.subarray(0, 300), (_, at) => at)
          : cuts.map((share) => Math.floor(share * content.length)).toSorted((a, b) => a - b)
        const chunks = [...ends, content.length].map((end, index) =>
          content.subarray(ends[index - 1] ?? 0, end),
        )
        const aside = {
          skipLines,
          skipLast,
          comment: beginningOf(content, lines[0]),
          stopAt: beginningOf(content, lines[1]),
        }
        expect(scanned(chunks, form, aside)).toEqual(scanned([content], form, aside))
      }),
      { seed, numRuns: files },
    )
  },
  timeoutMs,
)
