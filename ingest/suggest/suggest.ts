import path from 'node:path'
import type { Field, Table } from '../../core/catalog/catalog.ts'
import { inlineYaml, yamlComment } from '../../core/catalog/add-table.ts'
import { invisibleIn, visibleJson } from '../../core/text.ts'
import { Database } from '../../core/duckdb/database.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { Progress } from '../base/progress.ts'
import { rejectLine, TableFailure, type Reject } from '../base/rejects.ts'
import type { PlacedFile, UnpackLimits } from '../source/member.ts'
import { membersOf } from '../source/members.ts'
import { OtherHeader, readSource, type ReadSource } from '../source/read.ts'
import { reasons } from '../source/soundness.ts'
import { datasetLines } from './dataset-lines.ts'
import { isYesNo, suggestField } from './column.ts'
import type { SeenColumn, SuggestedField } from './field.ts'
import { isDayFirstIn } from './moment-field.ts'
import { decimalOf } from './number-field.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { withoutUnits } from '../dialect/header.ts'
import { entryText, tableOf, type Entry } from './entry.ts'
import { keysOf } from './key.ts'
import { namesFor, tableNameFor } from './names.ts'
import { describeLines, remarksOf, type Remark } from './remarks.ts'
import { titleAndUnitOf } from './titles.ts'
import { encodingOf, sampleOf, textsIn } from '../dialect/sample.ts'
import { isTotal } from '../source/total-words.ts'
import { dropOf, headingsIn, totalRowsIn, type TotalRow } from './totals.ts'
import { tryEntry, uniqueKey, type Misfit, type Trial } from '../convert/cast/trial.ts'

interface SuggestOptions {
  readonly scratch: string
  readonly limits: UnpackLimits
  readonly progress: Progress
  /** Keys that locate the source, such as `files` and `member`. */
  readonly source: Readonly<Record<string, unknown>> & { readonly member?: string }
  readonly name?: string
}

export interface Suggestion {
  readonly entry: string
  readonly remarks: readonly Remark[]
  /** Reason to publish nothing until a person has changed the entry; null for none. */
  readonly refusal: string | null
  readonly dataset: readonly string[]
  readonly fields: readonly SuggestedColumn[]
  readonly name: string
}

interface SuggestedColumn {
  readonly name: string
  readonly column: string
  readonly keys: SuggestedField['keys']
  readonly examples: readonly string[]
  readonly nulls: number
  readonly isEmpty: boolean
  readonly evidence: string
  readonly notice: string | null
  /** The field is a text until it is answered. */
  readonly question: string | null
}

/** Remarks become comments above the entry. */
export function suggestionText({ remarks, refusal, dataset, entry }: Suggestion): string {
  const refusals = refusal === null ? [] : [refusal]
  return `${[...remarks.map(({ text }) => text), ...refusals, ...dataset].map((line) => `${yamlComment(line)}\n`).join('')}${entry}`
}

/** New texts in a round may change the type of a column. */
const roundsMax = 6
/** After these rounds, every column with misfits becomes text. */
const typedRoundsMax = 3
const misfitsShown = 3
const memory = '550MB'

/**
 * Drafts an entry from the start of files, tries it on all rows, and changes it until every row fits.
 * @param files in the order of their rows
 * @throws TableFailure if the files cannot be read as CSV without guessing
 */
export async function suggest(files: readonly PlacedFile[], options: SuggestOptions): Promise<Suggestion> {
  const { scratch, source, limits, progress } = options
  const [first] = files
  if (first === undefined) throw new TableFailure('there is no file to look at')
  progress.step('reading the start')
  progress.advance({ fraction: 0 })
  const [member] = await membersOf(first, source.member ?? null, limits)
  if (member === undefined) throw new TableFailure(`${first.name} is empty`)
  const sample = await sampleOf(member)
  const { firstLine, hasHeader, headerLines, commentedHeader } = sample.dialect
  const header = commentedHeader ?? (headerLines > 1 ? withoutUnits(firstLine) : firstLine)
  const names = namesFor(header, hasHeader || commentedHeader !== null)
  // With several files, a person decides which rows are sums.
  const totals = totalRowsIn(sample.rows ?? []).map((row): TotalRow => {
    return files.length > 1 && row.kind === 'sum' ? { ...row, kind: 'possibleSum' } : row
  })
  const sums = totals.filter(({ kind }) => kind === 'sum')
  const sumLines = new Set(sums.map(({ line }) => line))
  const texts =
    sums.length === 0
      ? sample.texts
      : textsIn(
          (sample.rows ?? []).filter(({ line }) => !sumLines.has(line)),
          names.length,
        )
  const seenColumns = names.map((name, index) => ({
    name,
    texts: new Map(texts[index]),
    hasPaddedName: header[index] !== header[index]?.trim(),
  }))
  const isBesideYesNo = seenColumns.some(isYesNo)
  const decimal = decimalOf(seenColumns)
  const isDayFirst = isDayFirstIn(seenColumns)
  const columns = seenColumns.map((column) => ({ ...column, isBesideYesNo, decimal, isDayFirst }))
  const database = await trialDatabase(scratch)
  const db = await database.connect()
  try {
    const draft = new Draft(
      files,
      options.name ?? tableNameFor(first.name),
      columns,
      { ...sample.dialect, drop: dropOf(sums) },
      {
        ...options,
        db,
      },
    )
    const { entry, trial, fields } = await draft.settleEntry().catch(async (error: unknown) => {
      if (!(error instanceof OtherHeader) || source['union_by_name'] === true) throw error
      await draft.uniteColumns()
      return draft.settleEntry()
    })
    const placesText = await placesOf(files, options, trial, entry)
    const annotatedEntry = {
      ...entry,
      fields: entry.fields.map((keys, index) => ({
        ...keys,
        column: entry.dialect.firstLine[index] ?? keys.name,
        texts: titleAndUnitOf(
          hasHeader ? (firstLine[index] ?? '') : (commentedHeader?.[index] ?? ''),
          keys.name,
          keys.keys,
        ),
        examples: trial.examples[index] ?? [],
        nulls: trial.read.counts.records - (trial.fields[index]?.filled ?? 0),
        ...describeField(fields[index], trial, index, placesText),
      })),
    }
    const rows = sample.firstRows.filter(({ line }) => !sumLines.has(line))
    // The sample may have all rows of a small file.
    const isKnown = files.length === 1 && sample.rows !== null
    const keys = keysOf(rows, annotatedEntry.fields, isKnown ? 1 : undefined)
    const table = tableOf(entryText(entry))
    const keyNames = isKnown ? keys[0] : await uniqueKey({ ...options, files, table, db }, keys)
    const key = keyNames && { names: keyNames, rows: isKnown ? rows.length : trial.read.counts.records }
    return {
      entry: entryText({ ...annotatedEntry, key }),
      remarks: remarksOf(files, {
        dialect: draft.dialect,
        names: draft.columns.map(({ name }) => name),
        totals: totals.filter(({ kind }) => kind !== 'sum'),
        headings: headingsIn(sample.rows ?? []),
        open: annotatedEntry.fields.filter(({ question }) => question !== null).length,
        trial,
      }),
      refusal: draft.dialect.refusal,
      dataset: datasetLines(trial.days, draft.columns),
      fields: annotatedEntry.fields,
      name: entry.name,
    }
  } finally {
    db.close()
    database.close()
  }
}

function trialDatabase(scratch: string): Promise<Database> {
  return Database.open({ memory, threads: 2, scratch: path.join(scratch, 'spill'), folders: [scratch] })
}

export interface EntryFit {
  /** Fields that do not fit; null if the files have other columns, or cannot be read. */
  readonly misfits: ReadonlySet<string> | null
  /** Why an ingest would refuse the files, apart from `misfits`. */
  readonly refusal: string | null
}

export async function fitOf(
  files: readonly PlacedFile[],
  table: Table,
  { scratch, limits, progress }: Pick<SuggestOptions, 'scratch' | 'limits' | 'progress'>,
): Promise<EntryFit> {
  const database = await trialDatabase(scratch)
  const db = await database.connect()
  try {
    const probes = table.fields.map(() => null)
    const trial = await tryEntry({ files, table, spellings: [], probes, db, scratch, limits, progress })
    const misfits = new Set(
      table.fields.flatMap(({ name }, index) => (trial.fields[index]?.bad === 0 ? [] : [name])),
    )
    const { counts, rejects } = trial.read
    const [reject] = counts.rejectedRows > table.rejectsMax ? rejects : []
    return { misfits, refusal: reject === undefined ? null : rejectLine(reject) }
  } catch (error) {
    if (!(error instanceof TableFailure)) throw error
    const { message, remedy, rejects } = error
    const details = rejects.slice(0, 1).map(rejectLine)
    return { misfits: null, refusal: [message, ...details, ...(remedy === null ? [] : [remedy])].join('; ') }
  } finally {
    db.close()
    database.close()
  }
}

class Draft {
  readonly #files: readonly PlacedFile[]
  readonly #name: string
  #options: SuggestOptions & { readonly db: Connection }
  columns: SeenColumn[]
  dialect: Dialect

  constructor(
    files: readonly PlacedFile[],
    name: string,
    columns: readonly SeenColumn[],
    dialect: Dialect,
    options: SuggestOptions & { readonly db: Connection },
  ) {
    this.#files = files
    this.#name = name
    this.columns = [...columns]
    this.dialect = dialect
    this.#options = options
  }

  /** Reads the start of every file, for columns that only some have. */
  async uniteColumns(): Promise<void> {
    const { source, limits, progress } = this.#options
    progress.step('reading each file')
    const columns = new Map(this.columns.map((column) => [column.name, column] as const))
    for (const file of this.#files) {
      for (const member of await membersOf(file, source.member ?? null, limits)) {
        const { dialect, texts } = await sampleOf(member)
        for (const [index, name] of dialect.firstLine.entries()) {
          const textCounts = columns.get(name)?.texts ?? new Map<string, number>()
          columns.set(name, { name, texts: new Map([...(texts[index] ?? []), ...textCounts]) })
        }
      }
    }
    this.columns = [...columns.values()]
    this.#options = { ...this.#options, source: { ...source, union_by_name: true } }
    const note =
      'the files have different columns, or the same ones in another order: missing columns are null (union_by_name)'
    this.dialect = { ...this.dialect, evidence: [...this.dialect.evidence, note] }
  }

  /** Tries a suggestion on all rows, and adds its misfits to the columns, until every value fits. */
  async settleEntry(): Promise<{ entry: Entry; trial: Trial; fields: readonly SuggestedField[] }> {
    for (let round = 0; ;) {
      const fields = this.columns.map(suggestField)
      const entry = this.#entryOf(fields.map(({ keys }) => keys))
      const trial = await this.#try(entry, fields)
      if (trial === 'another dialect') continue
      if (this.#options.source['union_by_name'] !== true)
        requireOneTable(trial.read.afterEmptyRows, this.columns)
      const isSettled = trial.fields.every(({ bad }) => bad === 0)
      if (isSettled) return { entry, trial, fields }
      if (round === roundsMax)
        throw new Error(
          'no stable suggestion was found, since each attempt changed the types again: write the entry by hand',
        )
      round += 1
      this.columns = this.columns.map((column, index) =>
        withMisfits(column, trial.fields[index]?.misfits ?? [], round > typedRoundsMax),
      )
    }
  }

  #entryOf(keys: readonly SuggestedField['keys'][]): Entry {
    const { dialect } = this
    const { source } = this.#options
    return {
      name: this.#name,
      dialect,
      source,
      fields: this.columns.map(({ name }, index) => ({
        name,
        keys: keys[index] ?? { type: 'string' },
        evidence: '',
      })),
    }
  }

  /** Tries an entry on all rows; `another dialect` if rejected rows have shown a better one. */
  async #try(entry: Entry, fields: readonly SuggestedField[]): Promise<Trial | 'another dialect'> {
    const { db, scratch, limits, progress } = this.#options
    const table = tableOf(entryText(entry))
    const hasProbes = fields.some(({ probe }) => probe !== null)
    const probeEntry = hasProbes ? this.#entryOf(fields.map(({ keys, probe }) => probe?.keys ?? keys)) : null
    const probeFields = probeEntry === null ? [] : tableOf(entryText(probeEntry)).fields
    const probes = fields.map(({ probe }, index): Field | null =>
      probe === null ? null : (probeFields[index] ?? null),
    )
    progress.step('trying')
    try {
      const spellings = fields.map(({ spelling = [] }) => spelling)
      const trial = await tryEntry({
        files: this.#files,
        table,
        spellings,
        probes,
        db,
        scratch,
        limits,
        progress,
      })
      return (await this.#correctDialect(trial.read.rejects)) ? 'another dialect' : trial
    } catch (error) {
      if (error instanceof TableFailure && (await this.#correctDialect(error.rejects)))
        return 'another dialect'
      throw error
    }
  }

  /** Changes the dialect if rejected rows show what it lacks; returns whether it did. */
  async #correctDialect(rejects: readonly Reject[]): Promise<boolean> {
    return (
      (await this.#correctEncoding(rejects)) ||
      this.#hasRepeatedHeaders(rejects) ||
      this.#hasExtraCells(rejects)
    )
  }

  #hasRepeatedHeaders(rejects: readonly Reject[]): boolean {
    const repeated = rejects.filter(({ reason }) => reason === reasons.repeatedHeader)
    if (repeated.length === 0 || this.dialect.skipRepeatedHeaders) return false
    const note = `${rejectedLines(repeated)} ${repeated.length === 1 ? 'repeats the header, and is' : 'repeat the header, and are'} left out`
    this.dialect = { ...this.dialect, skipRepeatedHeaders: true, evidence: [...this.dialect.evidence, note] }
    return true
  }

  #hasExtraCells(rejects: readonly Reject[]): boolean {
    const extra = rejects.filter(({ reason }) => reason.endsWith(reasons.emptyExtraCells))
    if (extra.length === 0 || this.dialect.dropEmptyExtraCells) return false
    const note = `${rejectedLines(extra)} ${extra.length === 1 ? 'has' : 'have'} more cells than the header; the extra ones are empty, and are dropped`
    this.dialect = { ...this.dialect, dropEmptyExtraCells: true, evidence: [...this.dialect.evidence, note] }
    return true
  }

  async #correctEncoding(rejects: readonly Reject[]): Promise<boolean> {
    if (!rejects.some(({ reason }) => /^the byte 0x\S+ is not /.test(reason))) return false
    const { source, limits } = this.#options
    const members = await Promise.all(
      this.#files.map((file) => membersOf(file, source.member ?? null, limits)),
    )
    const { encoding, evidence, question = null } = await encodingOf(members.flat())
    if (encoding === this.dialect.encoding) return false
    const [, ...furtherEvidence] = this.dialect.evidence
    const otherQuestions = this.dialect.isEncodingOpen
      ? this.dialect.questions.slice(1)
      : this.dialect.questions
    const questions = [...(question === null ? [] : [question]), ...otherQuestions]
    this.dialect = {
      ...this.dialect,
      encoding,
      questions,
      isEncodingOpen: question !== null,
      evidence: [evidence, ...furtherEvidence],
    }
    return true
  }
}

function rejectedLines(rejects: readonly Reject[]): string {
  const file = rejects[0]?.file === undefined ? '' : `${rejects[0].file}, `
  return file + describeLines(rejects.map(({ line }) => line))
}

function isTextColumn(column: SeenColumn): boolean {
  return ['string', 'text'].includes(suggestField(column).keys.type)
}

/** An ordinary name, such as `Signal (dB)`. */
const columnNamePattern = /^\p{L}[\p{L}\p{M}\d _./()%-]*$/u

function requireOneTable(rows: ReadSource['afterEmptyRows'], columns: readonly SeenColumn[]): void {
  for (const { line, values } of rows) {
    const isLikeHeader =
      new Set(values).size === values.length && values.every((name) => columnNamePattern.test(name))
    if (!isLikeHeader) continue
    // Without the name in a second header, the column would be numbers or dates.
    const isSecondHeader = columns.some((column, index) => {
      const otherTexts = new Map(column.texts)
      otherTexts.delete(values[index] ?? '')
      return otherTexts.size > 0 && isTextColumn(column) && !isTextColumn({ ...column, texts: otherTexts })
    })
    if (isSecondHeader)
      throw new TableFailure(
        `line ${line}: a second table (header ${JSON.stringify(values.join(','))}) begins after an empty row: make it a file of its own`,
      )
  }
}

/** Adds misfits to the sample. If the keys stay the same, the column must be text. */
function withMisfits(column: SeenColumn, misfits: readonly Misfit[], isText: boolean): SeenColumn {
  if (misfits.length === 0) return column
  const texts = new Map(column.texts)
  for (const { text, rows } of misfits) texts.set(text, (texts.get(text) ?? 0) + rows)
  const next = { ...column, texts }
  const isSame = JSON.stringify(suggestField(next).keys) === JSON.stringify(suggestField(column).keys)
  return { ...next, isText: isText || isSame }
}

const joinParts = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part !== '').join('; ')

type ColumnNotes = Pick<SuggestedColumn, 'isEmpty' | 'evidence' | 'notice' | 'question'>

/** Evidence and question about a field, from its trial on all rows. */
function describeField(
  field: SuggestedField | undefined,
  trial: Trial,
  index: number,
  placesText: Places,
): ColumnNotes {
  const fieldTrial = trial.fields[index]
  if (field === undefined || fieldTrial === undefined)
    return { isEmpty: true, evidence: '', notice: null, question: null }
  const { question, isNotable = false } = field
  const evidence = field.evidence(fieldTrial)
  const exceptions = exceptionsText(field, trial, index, placesText)
  const advice = question === null && exceptions !== null ? adviceOf(field, trial, index) : null
  const findings = question === null ? [exceptions, advice] : [question, exceptions]
  const isOpen = question !== null || advice !== null
  return {
    isEmpty: fieldTrial.filled === 0,
    evidence: joinParts(evidence, ...findings),
    notice: !isOpen && isNotable ? evidence : null,
    question: isOpen ? joinParts(...findings) : null,
  }
}

/** Says which values do not have the type of most others; null if there is no such type. */
function exceptionsText(
  { probe }: SuggestedField,
  trial: Trial,
  index: number,
  placesText: Places,
): string | null {
  const outcome = trial.probes[index]
  if (probe === null || outcome === null || outcome === undefined || outcome.bad === 0) return null
  // If most values do not fit, the few that do say nothing about the type.
  if (outcome.bad > outcome.filled / 2) return null
  const examples = outcome.misfits.slice(0, misfitsShown).map(({ text, rows, records }) => {
    const times = rows === 1 ? '' : ` ${rows.toLocaleString('en')} times`
    const ellipsis = rows > records.length ? ', ...' : ''
    return `${visibleJson(text.slice(0, 40))}${times} (${placesText(records)}${ellipsis})`
  })
  const ending = outcome.misfits.length > misfitsShown ? ', ...' : ''
  const invisible = [...new Set(outcome.misfits.flatMap(({ text }) => invisibleIn(text)))]
  const cause = invisible.length === 0 ? '' : `, with invisible characters (${invisible.join(', ')})`
  return `all but ${outcome.bad.toLocaleString('en')} of ${outcome.filled.toLocaleString('en')} are ${probe.description}; the others: ${examples.join(', ')}${ending}${cause}`
}

const nullsMax = 5

/** Words, errors of spreadsheets such as `#N/A`, and dates of zeros. */
const missingPattern = /^\D{1,12}$|^#.*[!?]$|^[0/. -]+$/u

function adviceOf({ probe }: SuggestedField, trial: Trial, index: number): string {
  const { bad = 0, misfits = [] } = trial.probes[index] ?? {}
  const totalTexts = new Set(trial.read.lastRows.map(({ value }) => value).filter(isTotal))
  // A total that occurs once, in the last row, is left out with that row.
  const otherMisfits = misfits.filter(({ text, rows }) => rows > 1 || !totalTexts.has(text))
  const areAllMisfitsKnown =
    misfits.reduce((sum, { rows }) => sum + rows, 0) === bad && otherMisfits.length <= nullsMax
  const othersMeanNull = areAllMisfitsKnown && otherMisfits.every(({ text }) => missingPattern.test(text))
  const nulls =
    othersMeanNull && otherMisfits.length > 0
      ? { nulls: ['', ...otherMisfits.map(({ text }) => text.trim())] }
      : {}
  const keys = Object.entries({ ...probe?.keys, ...nulls }).map(
    ([key, value]) => `${key}: ${inlineYaml(value)}`,
  )
  const totalAdvice = otherMisfits.length < misfits.length ? ', leave the total out' : ''
  if (otherMisfits.length === 0)
    return `to give the field this type${totalAdvice}, and declare ${keys.join(', ')}`
  if (othersMeanNull)
    return `to give the field this type${totalAdvice}, with null for the others, declare ${keys.join(', ')}`
  return `to give the field this type${totalAdvice}, correct the others in the file, and declare ${keys.join(', ')}`
}

type Places = (records: readonly number[]) => string

async function placesOf(
  files: readonly PlacedFile[],
  { limits, progress }: SuggestOptions,
  trial: Trial,
  entry: Entry,
): Promise<Places> {
  const shownMisfits = trial.probes.flatMap((probe) => probe?.misfits.slice(0, misfitsShown) ?? [])
  if (shownMisfits.length === 0) return () => ''
  progress.step('finding lines')
  const recordsToLocate = new Set(shownMisfits.flatMap(({ records }) => records))
  const { lines } = await readSource(files, {
    table: tableOf(entryText(entry)),
    progress,
    limits,
    taker: null,
    locate: recordsToLocate,
  })
  return (records) => {
    const places = records.flatMap((record) => lines.get(record) ?? [])
    if (files.length > 1) return places.map(({ file, line }) => `${file}, line ${line}`).join('; ')
    return `${places.length === 1 ? 'line' : 'lines'} ${places.map(({ line }) => line).join(', ')}`
  }
}
