import { counted, shorten } from '../../core/text.ts'
import { paint } from '../base/paint.ts'
import { rejectLine } from '../base/rejects.ts'
import type { CatalogError } from '../../core/catalog/load.ts'
import type { CheckedTable } from './check.ts'

export interface CheckReport {
  readonly ok: boolean
  readonly catalog_faults: CatalogError['faults']
  readonly tables: readonly CheckedTable[]
}

const rejectsShown = 20

const faultsShown = 50
const valueMax = 80

const number = (count: number): string => count.toLocaleString('en')

export function tableLines(checked: CheckedTable): string[] {
  const { table, result, sources, problem, warnings, fields } = checked
  const changes = fields.map((change) => `  field ${changeOf(change, (name) => `"${name}"`)}`)
  return [
    `${table}: ${paint(toneOf(result), wordsOf(checked))}`,
    ...(problem === null ? [] : [`  ${sources.join(', ')}: ${problem}`]),
    ...rejectTexts(checked).map((line) => `  ${line}`),
    ...changes,
    ...warnings.map((line) => `  ${paint('warning', `warning: ${line}`)}`),
  ]
}

function toneOf(result: CheckedTable['result']): Parameters<typeof paint>[0] {
  if (result === 'failed') return 'bad'
  if (result === 'held') return 'warning'
  return result === 'unchanged' || result === 'missing' ? 'quiet' : 'good'
}

const resultWords: Readonly<Partial<Record<CheckedTable['result'], string>>> = {
  held: 'held back',
  missing: 'without a source',
}

function wordsOf({ result, rows, rows_before: before, sources }: CheckedTable): string {
  if (result === 'missing') return `no source, which would be ${sources.join(', ')}`
  const counts =
    rows === null
      ? ''
      : `, ${counted(rows, 'row')}${before === null || before === rows ? '' : ` instead of ${number(before)}`}`
  return `${result === 'failed' ? 'FAILED' : (resultWords[result] ?? result)}${counts}`
}

function rejectTexts({ rejects, reject_count: count, remedy }: CheckedTable): string[] {
  if (count === 0) return []
  const remaining = count - Math.min(rejects.length, rejectsShown)
  return [
    ...rejects.slice(0, rejectsShown).map(completeLine),
    ...(remaining > 0 ? [`and ${number(remaining)} more`] : []),
    remedy === null ? 'these rows would be left out, as `max_rejects` allows' : `remedy: ${remedy}`,
  ]
}

function completeLine(reject: CheckedTable['rejects'][number]): string {
  const { field, text } = reject
  const row = field === null && text !== null ? ` (${JSON.stringify(shorten(text, valueMax))})` : ''
  return `${rejectLine(reject)}${row}`
}

function changeOf(
  { field, before, after }: CheckedTable['fields'][number],
  quote: (name: string) => string,
): string {
  if (before === null) return `${quote(field)} is new (${after ?? ''})`
  if (after === null) return `${quote(field)} is removed (${before})`
  return `${quote(field)} changes from ${before} to ${after}`
}

export function verdictOf({ ok, tables, catalog_faults: faults }: CheckReport): string {
  if (faults.length > 0)
    return `the catalog has ${faults.length === 1 ? 'an error' : `${number(faults.length)} errors`}`
  const results = ['new', 'changed', 'unchanged', 'held', 'missing', 'failed'] as const
  const counts = results.flatMap((result) => {
    const count = tables.filter((checked) => checked.result === result).length
    return count === 0 ? [] : [`${number(count)} ${resultWords[result] ?? result}`]
  })
  const verdict = ok ? 'an ingest would succeed' : 'an ingest would fail'
  return `${verdict}: ${counts.join(', ') || 'the catalog has no tables'}`
}

/** GitHub allows 65,536 characters. */
const commentMax = 60_000

/** Markdown for a comment on a pull request, without details that do not fit. */
export function markdownOf(report: CheckReport): string {
  const { ok, tables, catalog_faults: faults } = report
  const lines = [`### ${ok ? '✅' : '❌'} acervo check`, '', `${capitalized(verdictOf(report))}.`, '']
  if (faults.length > 0) {
    lines.push('| place | error in the catalog |', '| --- | --- |')
    for (const { file, line, column, message } of faults.slice(0, faultsShown))
      lines.push(`| ${code(`${file}:${line}:${column}`)} | ${escaped(message)} |`)
  }
  if (faults.length > faultsShown) lines.push('', `And ${number(faults.length - faultsShown)} more.`)
  const listedTables = tables.filter(({ result }) => result !== 'missing')
  if (listedTables.length > 0) {
    lines.push('| table | result | rows | published rows | fields |', '| --- | --- | ---: | ---: | --- |')
    for (const { table, result, rows, rows_before: before, fields } of listedTables) {
      const cells = [rows, before].map((count) => (count === null ? '' : number(count)))
      const changes = fields.map((change) => changeOf(change, code)).join('; ')
      lines.push(`| ${code(table)} | ${result} | ${cells.join(' | ')} | ${changes} |`)
    }
  }
  return textWithin([lines, ...listedTables.map(detailsOf).filter((details) => details.length > 0)])
}

function textWithin([head = [], ...groups]: readonly (readonly string[])[]): string {
  let text = head.join('\n').slice(0, commentMax)
  for (const [index, group] of groups.entries()) {
    const block = `\n${group.join('\n')}`
    if (text.length + block.length > commentMax)
      return `${text.trimEnd()}\n\nThe findings of ${number(groups.length - index)} tables are too long for a comment: run \`acervo check\`.\n`
    text += block
  }
  return `${text.trimEnd()}\n`
}

function detailsOf(checked: CheckedTable): string[] {
  const { table, sources, problem, warnings, rejects } = checked
  const notes = [
    ...(problem === null ? [] : [`${sources.map(code).join(', ')}: ${escaped(problem)}`]),
    ...warnings.map((line) => `Warning: ${escaped(line)}`),
  ]
  const tableRows = rejects.slice(0, rejectsShown).map(({ file, line, field, text, reason }) => {
    const cells = [
      code(file),
      String(line),
      field === null ? '' : code(field),
      text === null ? '' : code(text),
    ]
    return `| ${cells.join(' | ')} | ${escaped(reason)} |`
  })
  if (notes.length === 0 && tableRows.length === 0) return []
  // The first texts repeat the rejects that the table shows.
  const furtherTexts = rejectTexts(checked).slice(tableRows.length)
  return [
    '',
    `#### ${code(table)}`,
    '',
    ...notes.map((note) => `- ${note}`),
    ...(tableRows.length === 0
      ? []
      : [
          ...(notes.length === 0 ? [] : ['']),
          '| file | line | field | value | what is wrong |',
          '| --- | ---: | --- | --- | --- |',
          ...tableRows,
        ]),
    ...(furtherTexts.length === 0
      ? []
      : ['', ...furtherTexts.map((text) => `${capitalized(escaped(text))}.`)]),
  ]
}

function code(text: string): string {
  const line = shorten(text.replaceAll(/[\s\p{Cc}]+/gu, ' '), valueMax).replaceAll('|', '\\|')
  const fence = '`'.repeat(1 + Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)))
  const space = line.startsWith('`') || line.endsWith('`') || line.trim() === '' ? ' ' : ''
  return `${fence}${space}${line}${space}${fence}`
}

function escaped(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`')
        ? part.replaceAll('|', '\\|')
        : part.replaceAll(/[\\<>|*_[\]@#~]/g, (sign) => escapes.get(sign) ?? `\\${sign}`),
    )
    .join('')
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['@', '@\u200b'],
])

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
