import { counted } from '../../core/text.ts'
import path from 'node:path'
import { rejectLine } from '../base/rejects.ts'
import type { PlacedFile } from '../source/member.ts'
import type { ReadSource } from '../source/read.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { canBeMatched } from './names.ts'
import type { Trial } from './trial.ts'

const rejectsShown = 3

/** Results of inspecting files, on which remarks are based. */
interface Finding {
  readonly dialect: Dialect
  readonly columns: number
  /** Number of fields that are texts until a question is answered. */
  readonly open: number
  readonly trial: Trial
}

export interface Remark {
  readonly text: string
  readonly isQuestion: boolean
}

/** Returns remarks and questions about files for their author. */
export function remarksOf(
  files: readonly PlacedFile[],
  { dialect, columns, open, trial }: Finding,
): Remark[] {
  const { read, days } = trial
  const [first, ...others] = files.map(({ name }) => name)
  const what = others.length === 0 ? (first ?? '') : `${first ?? ''} and ${others.length} more`
  return [
    toStatement(
      `${what}: ${counted(read.records + read.rejectedRows, 'row')}, ${counted(columns, 'column')}`,
    ),
    ...dialect.evidence.map(toStatement),
    ...(dialect.question === null ? [] : [toQuestion(dialect.question)]),
    ...totalsAsked(read.lastRows).map(toQuestion),
    ...marksAsked(read.markLine).map(toQuestion),
    ...birthsAsked(days).map(toQuestion),
    ...noRowsSaid(read).map(toStatement),
    ...suggestFromName(files).map(toStatement),
    ...namesSaid(dialect).map(toStatement),
    ...rejectsSaid(read, open).map(toStatement),
  ]
}

const toStatement = (text: string): Remark => ({ text, isQuestion: false })
const toQuestion = (text: string): Remark => ({ text, isQuestion: true })

function namesSaid({ hasHeader, firstLine }: Dialect): string[] {
  return hasHeader && !canBeMatched(firstLine)
    ? [
        'the header has a repeated or blank name: in the entry, header names the columns, and header_in_file has the line of the file',
      ]
    : []
}

function rejectsSaid({ rejectedRows, rejects }: ReadSource, open: number): string[] {
  const texts = open === 1 ? 'a field is a text' : `${open} fields are texts`
  const fits = `every value fits the suggested entry${open === 0 ? '' : `, in which ${texts} until you answer a question`}`
  if (rejectedRows === 0) return [`tried on all rows: ${fits}`]
  const rows = rejectedRows === 1 ? 'a row' : `${rejectedRows.toLocaleString('en')} rows`
  return [
    `${rows} cannot be read: ${rejects.slice(0, rejectsShown).map(rejectLine).join('; ')}`,
    `an ingest refuses the file: fix these lines, or publish without these rows by max_rejects: ${rejectedRows}`,
    `tried on the other rows: ${fits}`,
  ]
}

const noRowsShown = 3

/** Names the first empty rows and rules. */
function noRowsSaid({ noRows }: ReadSource): string[] {
  return (['empty', 'rule'] as const).flatMap((kind) => {
    const lines = noRows.flatMap((one) => (one.kind === kind ? [one.line] : []))
    if (lines.length === 0) return []
    const said = linesSaid(lines)
    const what = kind === 'empty' ? 'empty' : 'only a rule'
    return [`${said} ${lines.length === 1 ? 'is' : 'are'} ${what}, and left out`]
  })
}

/** Formats numbers of lines, such as `lines 3, 7, ...`. */
function linesSaid(lines: readonly number[]): string {
  const more = lines.length > noRowsShown ? ', ...' : ''
  return `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, noRowsShown).join(', ')}${more}`
}

function marksAsked(line: ReadSource['markLine']): string[] {
  return line === null
    ? []
    : [
        `say whether files were joined at line ${line}, which begins with a byte order mark: if so, remove the mark; otherwise it stays a part of the value`,
      ]
}

/** Beginnings of a total line, in English, Portuguese, Spanish, French, German and Italian. */
const totalPattern =
  /^(grand )?(sub)?(totals?|total geral|totais|sum|soma|suma|somme|summe|gesamt|insgesamt|ensemble|totale)\b/i

/** Returns the last rows of files that seem to sum up the others. */
export function totalsIn(lastRows: ReadSource['lastRows']): ReadSource['lastRows'] {
  return lastRows.filter(({ value }) => totalPattern.test(value.trim()))
}

function totalsAsked(lastRows: ReadSource['lastRows']): string[] {
  return totalsIn(lastRows).map(
    ({ file, line, value }) =>
      `say whether line ${line}${lastRows.length > 1 ? ` of ${file}` : ''} sums up the rows above it, as ${JSON.stringify(value)} suggests: source.skip_last: 1 leaves it out`,
  )
}

/** Names of fields of dates of birth, in English, Portuguese, Spanish, French, German and Italian. */
const birthPattern = /(^|_)(birth|born|dob|nasc|nascimento|nascita|nacimiento|naissance|geburt)/i

function birthsAsked(days: Trial['days']): string[] {
  const today = new Date().toISOString().slice(0, 10)
  return [...days].flatMap(([name, all]) => {
    const last = all.at(-1) ?? ''
    return birthPattern.test(name) && last > today
      ? [
          `say whether "${name}" holds dates of birth, since the last one is ${last}: its century may be wrong`,
        ]
      : []
  })
}

/**
 * Suggests `source.from_name` if file names differ only in digits, such as a year, which may be missing from
 * the columns.
 */
function suggestFromName(files: readonly PlacedFile[]): string[] {
  const names = files.map(({ name }) => path.basename(name))
  const [first = '', ...others] = names
  const [, before = '', digits, after = ''] = /^(.*?)(?<!\d)(\d+)(\D*)$/.exec(first) ?? []
  if (digits === undefined || others.length === 0) return []
  const inner = names.map((name) =>
    name.startsWith(before) && name.endsWith(after)
      ? name.slice(before.length, name.length - after.length)
      : '',
  )
  if (new Set(inner).size !== inner.length || !inner.every((text) => /^\d+$/.test(text))) return []
  const field = inner.every((text) => /^(18|19|20)\d\d$/.test(text)) ? 'year' : 'part'
  return [
    `the file names differ by a number: source.from_name: ${JSON.stringify(`${before}{${field}}${after}`)} and a field "${field}" add it to each row`,
  ]
}
