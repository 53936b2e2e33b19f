const yearPattern = /^(1[89]|20)\d\d(\.0)?$/

function areOrdered(cells: readonly string[]): boolean {
  const steps = cells.slice(1).map((cell, index) => Number(cell) - Number(cells[index]))
  return steps.length > 0 && (steps.every((step) => step > 0) || steps.every((step) => step < 0))
}

function areConsecutive(cells: readonly string[]): boolean {
  const first = Number(cells[0])
  return (
    cells.length > 2 && cells.every((cell, index) => /^\d+$/.test(cell) && Number(cell) === first + index)
  )
}

function withoutYears(cells: readonly string[]): readonly string[] {
  const years = cells.filter((cell) => yearPattern.test(cell))
  return areOrdered(years) ? cells.filter((cell) => !yearPattern.test(cell)) : cells
}

const dataPattern = /^-?[\d.,]+$|^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}/

export function isLikelyHeader(cells: readonly string[]): boolean {
  return (
    !withoutYears(cells.map((cell) => cell.trim())).some((cell) => dataPattern.test(cell)) &&
    cells.filter((cell) => cell !== '').length >= cells.length / 2
  )
}

type Kind = 'empty' | 'year' | 'number' | 'date' | 'text'

function kindOf(cell: string): Kind {
  if (/^(|n\/?[ad]|nan|null|none)$/i.test(cell)) return 'empty'
  if (yearPattern.test(cell)) return 'year'
  if (!dataPattern.test(cell)) return 'text'
  return /^-?[\d.,]+$/.test(cell) ? 'number' : 'date'
}

/** Kinds of values that show that the cell above is part of a header; text below text shows nothing. */
const kindsUnderHeader: Readonly<Record<Kind, readonly Kind[]>> = {
  empty: [],
  text: ['year', 'number', 'date'],
  date: ['number', 'text'],
  year: ['text'],
  number: ['text'],
}

/**
 * Returns whether a line with numbers or dates differs from the rows below as a header does. Years in order
 * above other numbers, for example, are a header. Null without numbers or dates, so that only the cells can
 * decide.
 */
function looksLikeHeader(first: readonly string[], rows: readonly (readonly string[])[]): boolean | null {
  const cells = first.map((cell) => cell.trim())
  const kinds = cells.map(kindOf)
  const numbersOf = (row: readonly string[]): string[] =>
    row.filter((_, column) => ['year', 'number'].includes(kinds[column] ?? ''))
  const numbers = numbersOf(cells)
  if (numbers.length === 0 && !kinds.includes('date')) return null
  const columnKinds = kinds.map((_, column) => kindOfColumn(rows, column))
  // A text before numbers in order, such as `city, 1, 2, 3`, names columns.
  if (kinds[0] === 'text' && areConsecutive(numbers) && !rows.some((row) => areConsecutive(numbersOf(row))))
    return true
  const hasDateAboveDates = kinds.some(
    (kind, column) => ['year', 'date'].includes(kind) && columnKinds[column] === kind,
  )
  if (hasDateAboveDates) return false
  // Years and months of a header are in order, such as `2019, 2020`.
  if (numbers.length > 1 && !areOrdered(numbers)) return false
  return (
    isLikelyHeader(first) ||
    kinds.some((kind, column) =>
      kindsUnderHeader[kind].some((kindBelow) => kindBelow === columnKinds[column]),
    )
  )
}

function kindOfColumn(rows: readonly (readonly string[])[], column: number): Kind | undefined {
  const kinds = new Set(rows.map((row) => kindOf((row[column] ?? '').trim())))
  kinds.delete('empty')
  return kinds.size === 1 ? [...kinds][0] : undefined
}

export function isHeader(first: readonly string[], rows: readonly (readonly string[])[]): boolean {
  return looksLikeHeader(first, rows) ?? isLikelyHeader(first)
}

export function filledIn(cells: readonly string[]): number {
  return cells.filter((cell) => cell.trim() !== '').length
}

/** Returns whether a cell is a unit, such as `[cm]`; numbers and lists in brackets are none. */
function isUnit(cell: string): boolean {
  return /^[[(][^[\]()",]*[\])]$/u.test(cell) && /[\p{L}%°‰]/u.test(cell)
}

/**
 * Role of a line below the header. `joined`: it continues the header, as `[cm],[kg]` or the years below a
 * merged cell do. `labels`: it may be a second header, with a text above each numeric column. Null: a row.
 */
export function secondLineOf(
  first: readonly string[],
  second: readonly string[],
  rows: readonly (readonly string[])[],
): 'joined' | 'labels' | null {
  if (first.length < 2 || second.length !== first.length) return null
  const filledCells = second.flatMap((rawCell, column) => {
    const cell = rawCell.trim()
    const kindsInColumn = rows
      .map((row) => kindOf((row[column] ?? '').trim()))
      .filter((kind) => kind !== 'empty')
    const isAboveNumbers = kindsInColumn.filter((kind) => kind !== 'text').length > kindsInColumn.length / 2
    // A year is a name too, unless years are below it.
    const isName = kindOf(cell) === 'text' || (yearPattern.test(cell) && !kindsInColumn.includes('year'))
    return cell === ''
      ? []
      : [{ cell, isAboveNumbers, isName, isUnnamed: (first[column] ?? '').trim() === '' }]
  })
  const aboveNumbers = filledCells.filter(({ isAboveNumbers }) => isAboveNumbers)
  if (filledCells.length === 0 || !filledCells.every(({ isName }) => isName)) return null
  if (filledCells.every(({ cell }) => isUnit(cell))) {
    // A single word in parentheses, such as (nd), may mean a missing value.
    const isSure = filledCells.length > 1 || filledCells[0]?.cell.startsWith('[') === true
    return aboveNumbers.length === filledCells.length && isSure ? 'joined' : null
  }
  if (aboveNumbers.length < 2 || !aboveNumbers.every(({ cell }) => /[\p{L}\d]/u.test(cell))) return null
  if (aboveNumbers.some(({ isUnnamed }) => isUnnamed)) return 'joined'
  const isDistinct = new Set(aboveNumbers.map(({ cell }) => cell)).size === aboveNumbers.length
  return isDistinct && aboveNumbers.every(({ cell }) => /\p{L}{3}/u.test(cell)) ? 'labels' : null
}

/** Removes units that were joined from a second line. */
export function withoutUnits(header: readonly string[]): readonly string[] {
  return header.map((cell) => {
    const start = cell.lastIndexOf(cell.endsWith(']') ? ' [' : ' (')
    return /[\])]$/.test(cell) && start > 0 ? cell.slice(0, start) : cell
  })
}
