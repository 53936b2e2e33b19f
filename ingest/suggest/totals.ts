import type { SampleRow } from '../dialect/sample.ts'
import { isTotal, totalWords } from '../source/total-words.ts'
import { isAmbiguous, isLossy, numberForm } from './numbers.ts'

const totalPattern = new RegExp(String.raw`${totalWords}\b`, 'i')

export interface TotalRow {
  readonly line: number
  readonly column: number
  readonly label: string
  /**
   * `sum`: sums of rows above, without other texts. `possibleSum`: sums that may be data, judging by other
   * texts, position or words. `notSum`: no sums.
   */
  readonly kind: 'sum' | 'possibleSum' | 'notSum'
}

const numbersMin = 2
const rowsMin = 3

const keyOf = (column: number, text: string): string => `${column} ${text.trim()}`

/**
 * Finds rows like totals: a `sum` of rows above; a `possibleSum`, to be asked about; a `notSum`, which only
 * has a word for totals.
 */
export function totalRowsIn(rows: readonly SampleRow[]): TotalRow[] {
  const totalWordColumns = rows.map(({ values }) =>
    values.findIndex((text) => totalPattern.test(text.trim())),
  )
  const totalWordRows = new Set(totalWordColumns.flatMap((column, index) => (column === -1 ? [] : [index])))
  if (rows.length - totalWordRows.size < 2) return []
  const sums = (rows[0]?.values ?? []).map((_, column) => runningSums(rows, totalWordRows, column))
  const cellCounts = new Map<string, number>()
  for (const [index, { values }] of rows.entries())
    for (const [column, text] of totalWordRows.has(index) ? [] : values.entries())
      cellCounts.set(keyOf(column, text), (cellCounts.get(keyOf(column, text)) ?? 0) + 1)
  let [previousTotalIndex, latestTotalIndex] = [0, 0]
  const totalRows = rows.flatMap(({ line, values }, rowIndex): TotalRow[] => {
    const hasTotalWord = totalWordRows.has(rowIndex)
    const isFirstOrLastRow = rowIndex === 0 || rowIndex === rows.length - 1
    if (!hasTotalWord && !isFirstOrLastRow) return []
    const labelColumn = hasTotalWord
      ? (totalWordColumns[rowIndex] ?? 0)
      : values.findIndex((text, index) => text !== '' && sums[index] == null)
    const label = values[labelColumn]?.trim() ?? ''
    const cells = values.flatMap((text, index) =>
      index === labelColumn || text.trim() === '' ? [] : [{ text, index }],
    )
    const numberCells = cells.filter(({ index }) => sums[index] != null)
    if (hasTotalWord) [previousTotalIndex, latestTotalIndex] = [latestTotalIndex, rowIndex]
    const countInThisRow = hasTotalWord ? 0 : 1
    const isCommonLabel = (cellCounts.get(keyOf(labelColumn, label)) ?? 0) > countInThisRow
    if (labelColumn === -1 || isCommonLabel || numberCells.length === 0) return []
    const isSumOf = (from: number, to: number): boolean =>
      numberCells.every(({ text, index }) =>
        isEqual(
          (sums[index] as RunningSums).sumBetween(from, to, rowIndex),
          text,
          sums[index] as RunningSums,
        ),
      )
    // Without an earlier total, the first row may be a total itself.
    const isSumSinceTotal = isSumOf(previousTotalIndex, rowIndex) || isSumOf(previousTotalIndex + 1, rowIndex)
    const isSumAbove = isSumSinceTotal || isSumOf(0, rowIndex)
    const hasTexts = numberCells.length < cells.length
    if (!hasTotalWord) {
      const isGrandTotal =
        numberCells.length >= numbersMin && rows.length > rowsMin && isSumOf(0, rows.length)
      return isGrandTotal ? [{ line, column: labelColumn, label, kind: 'possibleSum' }] : []
    }
    if (isSumAbove) return [{ line, column: labelColumn, label, kind: hasTexts ? 'possibleSum' : 'sum' }]
    if (isSumOf(rowIndex + 1, rows.length)) return [{ line, column: labelColumn, label, kind: 'possibleSum' }]
    return isTotal(label) && !hasTexts ? [{ line, column: labelColumn, label, kind: 'notSum' }] : []
  })
  // If a row that is no sum has the same label, dropping the label would lose that row.
  const unprovenLabels = new Set(
    totalRows.flatMap(({ column, label, kind }) => (kind === 'sum' ? [] : [keyOf(column, label)])),
  )
  return totalRows.map((row) =>
    row.kind === 'sum' && unprovenLabels.has(keyOf(row.column, row.label)) ? { ...row, kind: 'notSum' } : row,
  )
}

function isEqual(sum: number, text: string, { valueOf, absoluteSum }: RunningSums): boolean {
  return Math.abs(sum - valueOf(text)) <= 1e-9 * Math.max(1, absoluteSum)
}

interface RunningSums {
  /** Sums rows without totals and without the row `at`. */
  readonly sumBetween: (from: number, to: number, at: number) => number
  /** Sum of absolute values, which bounds the error. */
  readonly absoluteSum: number
  readonly valueOf: (text: string) => number
}

/**
 * Adds up a column, so that any range of its rows can be summed. Texts without digits count as 0; null if
 * other texts are not numbers.
 */
function runningSums(
  rows: readonly SampleRow[],
  excludedRows: ReadonlySet<number>,
  column: number,
): RunningSums | null {
  const texts = rows.flatMap(({ values }, index) =>
    excludedRows.has(index) ? [] : [values[column]?.trim() ?? ''],
  )
  const form = numberForm([...new Set(texts.filter((text) => /\d/.test(text)))])
  if (form === null || isLossy(form)) return null
  const decimal = isAmbiguous(form) ? (form.separator === '.' ? ',' : '.') : form.decimal
  const valueOf = (text: string): number => {
    const digits = text.replaceAll(new RegExp(`[^\\d${decimal}eE]`, 'g'), '').replace(decimal, '.')
    return (/^\D*[-\u2212\u2013(]|-$/.test(text) ? -1 : 1) * (Number(digits) || 0)
  }
  const values = rows.map((row, index) => (excludedRows.has(index) ? 0 : valueOf(row.values[column] ?? '')))
  const sumsBefore = [0]
  for (const [index, value] of values.entries()) sumsBefore.push((sumsBefore[index] ?? 0) + value)
  const sumBetween = (from: number, to: number, excluded: number): number =>
    (sumsBefore[to] ?? 0) -
    (sumsBefore[from] ?? 0) -
    (excluded >= from && excluded < to ? (values[excluded] ?? 0) : 0)
  return {
    sumBetween,
    absoluteSum: values.reduce((sum, value) => sum + Math.abs(value), 0),
    valueOf,
  }
}

export function dropOf(
  totals: readonly Pick<TotalRow, 'column' | 'label'>[],
): Map<number, readonly string[]> {
  const drop = new Map<number, readonly string[]>()
  for (const { column, label } of totals) drop.set(column, [...new Set([...(drop.get(column) ?? []), label])])
  return drop
}

const headingsMax = 20

/** Rows with only the first cell filled, amid rows of several values. */
export function headingsIn(rows: readonly SampleRow[]): Pick<TotalRow, 'line' | 'column' | 'label'>[] {
  const filledCounts = rows.map(({ values }) => values.filter((text) => text.trim() !== '').length)
  const headings = rows.flatMap(({ line, values }, index) =>
    filledCounts[index] === 1 && values[0]?.trim() !== ''
      ? [{ line, column: 0, label: values[0]?.trim() ?? '' }]
      : [],
  )
  const isTable = (rows[0]?.values.length ?? 0) > 2 && filledCounts.every((count) => count !== 2)
  return isTable && headings.length <= Math.min(headingsMax, rows.length / 2) ? headings : []
}
