import { counted } from '../../core/text.ts'
import path from 'node:path'
import { rejectLine } from '../base/rejects.ts'
import type { PlacedFile } from '../source/member.ts'
import { misreadText, type ReadSource } from '../source/read.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { columnNames } from './entry.ts'
import { canBeMatched } from './names.ts'
import { isTotal } from '../source/total-words.ts'
import { dropOf, type headingsIn, type TotalRow } from './totals.ts'
import type { Trial } from '../convert/cast/trial.ts'

const rejectsShown = 3

interface Finding {
  readonly dialect: Dialect
  readonly names: readonly string[]
  /** Rows that may be headings of other rows. */
  readonly headings: ReturnType<typeof headingsIn>
  readonly totals: readonly TotalRow[]
  readonly open: number
  readonly trial: Trial
}

export interface Remark {
  readonly text: string
  readonly isQuestion: boolean
}

export function remarksOf(files: readonly PlacedFile[], finding: Finding): Remark[] {
  const { dialect, names, open: openFieldCount, trial } = finding
  const { read, days } = trial
  const [first, ...furtherNames] = files.map(({ name }) => name)
  const summary = furtherNames.length === 0 ? (first ?? '') : `${first ?? ''} and ${furtherNames.length} more`
  return [
    toStatement(
      `${summary}: ${counted(read.counts.records + read.counts.rejectedRows, 'row')}, ${counted(names.length, 'column')}`,
    ),
    ...dialect.evidence.map(toStatement),
    ...dialect.questions.map(toQuestion),
    ...labelQuestions(finding).map(toQuestion),
    ...totalQuestions(finding).map(toQuestion),
    ...markQuestions(read.markLine).map(toQuestion),
    ...birthQuestions(days).map(toQuestion),
    ...lineNoteTexts(read).map(toStatement),
    ...classTexts(finding).map(toStatement),
    ...headingTexts(finding).map(toStatement),
    ...suggestFromName(files).map(toStatement),
    ...describeNames(dialect).map(toStatement),
    ...rejectTexts(read, openFieldCount).map(toStatement),
  ]
}

const toStatement = (text: string): Remark => ({ text, isQuestion: false })
const toQuestion = (text: string): Remark => ({ text, isQuestion: true })

function describeNames({ hasHeader, firstLine }: Dialect): string[] {
  const repeated = firstLine.filter(
    (cell, column) => cell === '__proto__' || (cell !== '' && firstLine.indexOf(cell) < column),
  )
  const names = [...new Set(repeated)].map((cell) => JSON.stringify(cell)).join(', ')
  return hasHeader && !canBeMatched(firstLine)
    ? [
        `the header has a repeated, blank or reserved name${names === '' ? '' : ` (${names})`}: in the entry, header names the columns, and header_in_file has the line of the file`,
      ]
    : []
}

function rejectTexts({ counts: { rejectedRows }, rejects }: ReadSource, openFieldCount: number): string[] {
  const openFieldPhrase = openFieldCount === 1 ? 'a field is a text' : `${openFieldCount} fields are texts`
  const fitPhrase = `every value fits the suggested entry${openFieldCount === 0 ? '' : `, in which ${openFieldPhrase} until you answer a question`}`
  if (rejectedRows === 0) return [`tried on all rows: ${fitPhrase}`]
  const brokenLine = brokenRow(rejects)
  const rowPhrase = rejectedRows === 1 ? 'a row' : `${rejectedRows.toLocaleString('en')} rows`
  return [
    `${rowPhrase} cannot be read: ${rejects.slice(0, rejectsShown).map(rejectLine).join('; ')}`,
    'an ingest refuses the file: correct these lines (max_rejects of the table would leave them out)',
    ...(brokenLine === null
      ? []
      : [
          `lines ${brokenLine} and ${brokenLine + 1} seem to be one row, broken by a line break: enclose values with line breaks in quotes`,
        ]),
    `tried on the other rows: ${fitPhrase}`,
  ]
}

function brokenRow(rejects: ReadSource['rejects']): number | null {
  const counts = rejects.map(({ line, reason }) => {
    const [, values = 0, columns = 0] = (
      /^the row has (\d+) values?, and the header (\d+)/.exec(reason) ?? []
    ).map(Number)
    return { line, values, columns }
  })
  const first = counts.find(({ line, values, columns }, index) => {
    const next = counts[index + 1]
    return columns > 0 && next?.line === line + 1 && values + next.values === columns + 1
  })
  return first?.line ?? null
}

const linesShown = 10

function lineNoteTexts({ lineNotes }: ReadSource): string[] {
  const kinds = {
    empty: ['is empty, and is left out', 'are empty, and are left out'],
    rule: ['is only a rule, and is left out', 'are only rules, and are left out'],
    comment: ['is a comment', 'are comments'],
    dropped: ['sums up other rows, and is left out', 'sum up other rows, and are left out'],
    quotes: [
      'has blanks or = beside quotes, which are left out',
      'have blanks or = beside quotes, which are left out',
    ],
    misread: [misreadText, misreadText],
  } as const
  return (['empty', 'rule', 'comment', 'dropped', 'quotes', 'misread'] as const).flatMap((kind) => {
    const lines = lineNotes.flatMap((note) => (note.kind === kind ? [note.line] : []))
    return lines.length === 0 ? [] : [`${describeLines(lines)} ${kinds[kind][lines.length === 1 ? 0 : 1]}`]
  })
}

export function describeLines(lines: readonly number[]): string {
  const ellipsis = lines.length > linesShown ? ', ...' : ''
  return `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, linesShown).join(', ')}${ellipsis}`
}

function markQuestions(line: ReadSource['markLine']): string[] {
  return line === null
    ? []
    : [
        `say whether files were joined at line ${line}, which begins with a byte order mark: if so, remove the mark; otherwise it stays a part of the value`,
      ]
}

function totalQuestions(finding: Finding): string[] {
  const { lastRows } = finding.trial.read
  const totals = finding.totals.filter(({ kind }) => kind === 'notSum')
  const last = lastRows.flatMap(({ file, line, column, value }) =>
    isTotal(value) && !(lastRows.length === 1 && finding.totals.some((total) => total.line === line))
      ? [{ place: `line ${line}${lastRows.length > 1 ? ` of ${file}` : ''}`, column, label: value.trim() }]
      : [],
  )
  const rows = [...totals.map(({ line, ...total }) => ({ ...total, place: `line ${line}` })), ...last]
  return rows.length === 0 ? [] : [`say whether ${totalsSaid(finding, rows)}`]
}

function labelQuestions(finding: Finding): string[] {
  const { labels, skipLines } = finding.dialect
  const column = labels?.findIndex((cell) => cell.trim() !== '') ?? -1
  if (column === -1) return []
  const drop = dropSaid(finding, [{ column, label: labels?.[column]?.trim() ?? '' }])
  return [`say whether line ${skipLines + 2} is a second header, as its texts above numbers suggest: ${drop}`]
}

function headingTexts(finding: Finding): string[] {
  const { headings } = finding
  if (headings.length === 0) return []
  const lines = describeLines(headings.map(({ line }) => line))
  return [
    `${lines} ${headings.length === 1 ? 'has its first cell alone, so may be a heading' : 'have their first cell alone, so may be headings'}: ${dropSaid(finding, headings)}`,
  ]
}

function classTexts(finding: Finding): string[] {
  const rows = finding.totals.flatMap(({ line, kind, ...total }) =>
    kind === 'possibleSum' ? [{ ...total, place: `line ${line}` }] : [],
  )
  return rows.length === 0 ? [] : [totalsSaid(finding, rows)]
}

type LabelledRow = Pick<TotalRow, 'column' | 'label'>

function totalsSaid(finding: Finding, rows: readonly (LabelledRow & { readonly place: string })[]): string {
  const places = rows.slice(0, linesShown).map(({ place }) => place)
  const ellipsis = rows.length > linesShown ? ', ...' : ''
  return `${places.join(', ')}${ellipsis} ${rows.length === 1 ? 'sums' : 'sum'} up other rows, as ${JSON.stringify(rows[0]?.label)} suggests: ${dropSaid(finding, rows)}`
}

function dropSaid({ dialect, names }: Finding, rows: readonly LabelledRow[]): string {
  const columns = columnNames(dialect, names)
  const drop = Object.fromEntries([...dropOf(rows)].map(([column, texts]) => [columns[column] ?? '', texts]))
  return `source.drop: ${JSON.stringify(drop)} leaves ${rows.length === 1 ? 'it' : 'them'} out`
}

/** Dates of birth in English, Portuguese, Spanish, French, German and Italian. */
const birthPattern = /(^|_)(birth|born|dob|nasc|nascimento|nascita|nacimiento|naissance|geburt)/i

function birthQuestions(days: Trial['days']): string[] {
  const today = new Date().toISOString().slice(0, 10)
  return [...days].flatMap(([name, dayList]) => {
    const last = dayList.at(-1) ?? ''
    return birthPattern.test(name) && last > today
      ? [
          `say whether "${name}" holds dates of birth, since the last one is ${last}: its century may be wrong`,
        ]
      : []
  })
}

function suggestFromName(files: readonly PlacedFile[]): string[] {
  const names = files.map(({ name }) => path.basename(name))
  const [first = '', ...furtherNames] = names
  const digits = first.match(/\d+/g)?.at(-1)
  if (digits === undefined || furtherNames.length === 0) return []
  const start = first.lastIndexOf(digits)
  const [before, after] = [first.slice(0, start), first.slice(start + digits.length)]
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
