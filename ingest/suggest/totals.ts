import type { SampleRow } from '../dialect/sample.ts'
import { isAmbiguous, isLossy, numberForm } from './numbers.ts'

/** Beginnings of a total line, in English, Portuguese, Spanish, French, German and Italian. */
const totalPattern =
  /^(grand )?(sub-?)?(totals?|total geral|totais|sum|soma|suma|somme|summe|gesamt|insgesamt|ensemble|totale)\b/i

/** Returns whether the first value of a row suggests that the row sums up others. */
export function isTotal(text: string): boolean {
  return totalPattern.test(text.trim())
}

/** A row that seems to sum up others: its first filled cell names a total, and its other cells are numbers. */
export interface TotalRow {
  readonly line: number
  readonly column: number
  readonly label: string
  /** True if every number is the sum of rows above or below. */
  readonly isSum: boolean
}

/** Returns the rows of a file that seem to sum up others. */
export function totalRowsIn(rows: readonly SampleRow[]): TotalRow[] {
  const firsts = rows.map(({ values }) => values.findIndex((text) => text.trim() !== ''))
  const labels = rows.map(({ values }, at) => values[firsts[at] ?? 0]?.trim() ?? '')
  const totals = labels.flatMap((label, at) => (isTotal(label) ? [at] : []))
  const isLabel = new Set(labels.filter((_, at) => !totals.includes(at)))
  const others = rows.filter((_, at) => !totals.includes(at))
  if (totals.length === 0 || others.length < 2) return []
  const sums = (others[0]?.values ?? []).map((_, column) => runningSums(rows, new Set(totals), column))
  return totals.flatMap((at, index): TotalRow[] => {
    const { line, values } = rows[at] as SampleRow
    const [column = 0, label = ''] = [firsts[at], labels[at]]
    const cells = values.flatMap((text, own) => (own === column || text.trim() === '' ? [] : [{ text, own }]))
    if (isLabel.has(label) || cells.length === 0 || !cells.every(({ own }) => sums[own] != null)) return []
    const blocks = [
      [index === 0 ? 0 : (totals[index - 1] ?? 0), at],
      [0, at],
      [at + 1, rows.length],
    ]
    const isSum = blocks.some(([from = 0, to = 0]) =>
      cells.every(({ text, own }) => {
        const { upTo, valueOf } = sums[own] as RunningSums
        const sum = (upTo[to] ?? 0) - (upTo[from] ?? 0)
        return Math.abs(sum - valueOf(text)) <= 1e-9 * Math.max(1, Math.abs(sum), upTo.at(-1) ?? 0)
      }),
    )
    return [{ line, column, label, isSum }]
  })
}

interface RunningSums {
  /** Sum of the values before each row, without totals. */
  readonly upTo: readonly number[]
  readonly valueOf: (text: string) => number
}

/** Returns null if a column has other texts than numbers and words without digits, which count as 0. */
function runningSums(
  rows: readonly SampleRow[],
  totals: ReadonlySet<number>,
  column: number,
): RunningSums | null {
  const texts = rows.flatMap(({ values }, at) => (totals.has(at) ? [] : [values[column]?.trim() ?? '']))
  const form = numberForm([...new Set(texts.filter((text) => /\d/.test(text)))])
  if (form === null || isLossy(form)) return null
  const decimal = isAmbiguous(form) ? (form.separator === '.' ? ',' : '.') : form.decimal
  const valueOf = (text: string): number => {
    const digits = text.replaceAll(new RegExp(`[^\\d${decimal}eE]`, 'g'), '').replace(decimal, '.')
    return (/^\D*[-\u2212\u2013(]|-$/.test(text) ? -1 : 1) * (Number(digits) || 0)
  }
  const upTo = [0]
  for (const [at, { values }] of rows.entries())
    upTo.push((upTo[at] ?? 0) + (totals.has(at) ? 0 : valueOf(values[column] ?? '')))
  return { upTo, valueOf }
}

/** Returns the texts of totals to leave out, by column index. */
export function dropOf(
  totals: readonly Pick<TotalRow, 'column' | 'label'>[],
): Map<number, readonly string[]> {
  const drop = new Map<number, readonly string[]>()
  for (const { column, label } of totals) drop.set(column, [...new Set([...(drop.get(column) ?? []), label])])
  return drop
}
