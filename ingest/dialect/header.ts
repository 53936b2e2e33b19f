const yearPattern = /^(1[89]|20)\d\d(\.0)?$/

/** Returns whether numbers rise, or fall, from each cell to the next one, as names of columns do. */
function areOrdered(cells: readonly string[]): boolean {
  const steps = cells.slice(1).map((cell, index) => Number(cell) - Number(cells[index]))
  return steps.length > 0 && (steps.every((step) => step > 0) || steps.every((step) => step < 0))
}

/** Returns the cells without years in order, which are common names of columns. */
function withoutYears(cells: readonly string[]): readonly string[] {
  const years = cells.filter((cell) => yearPattern.test(cell))
  return areOrdered(years) ? cells.filter((cell) => !yearPattern.test(cell)) : cells
}

/** Matches a number or the start of a date. */
const dataPattern = /^-?[\d.,]+$|^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}/

/** Returns whether a line may be a header, by its own cells. */
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

/** Kinds of values below a header's cell of another kind. */
const kindsBelow: Readonly<Record<Kind, readonly Kind[]>> = {
  empty: [],
  text: ['year', 'number', 'date'],
  date: ['number', 'text'],
  year: ['text'],
  number: ['text'],
}

/**
 * Returns whether a first line with numbers or dates differs from the rows below as a header does, such as a
 * text above numbers, or years in order above other numbers. Null if the line has no numbers or dates.
 */
function differsFrom(first: readonly string[], rows: readonly (readonly string[])[]): boolean | null {
  const cells = first.map((cell) => cell.trim())
  const kinds = cells.map(kindOf)
  const numbers = cells.filter((_, column) => ['year', 'number'].includes(kinds[column] ?? ''))
  if (numbers.length === 0 && !kinds.includes('date')) return null
  const below = kinds.map((_, column) => {
    const all = new Set(rows.map((row) => kindOf((row[column] ?? '').trim())))
    all.delete('empty')
    return all.size === 1 ? [...all][0] : undefined
  })
  const isSame = kinds.some((kind, column) => ['year', 'date'].includes(kind) && below[column] === kind)
  if (isSame || (numbers.length > 1 && !areOrdered(numbers))) return false
  return (
    isLikelyHeader(first) ||
    kinds.some((kind, column) => kindsBelow[kind].some((one) => one === below[column]))
  )
}

/** Returns whether the first line of a sample is a header, by its cells and by the rows below. */
export function isHeader(first: readonly string[], rows: readonly (readonly string[])[]): boolean {
  return differsFrom(first, rows) ?? isLikelyHeader(first)
}

/** Returns the number of cells that are not blank. */
export function filledIn(cells: readonly string[]): number {
  return cells.filter((cell) => cell.trim() !== '').length
}

/** Matches the unit of a column, such as `[cm]` or `(mm)`; numbers and lists in brackets are none. */
const unitPattern = /^[[(](?=.*[\p{L}%°‰])[^[\]()",]*[\])]$/u

const isNumber = (cell: string): boolean => /^[-+]?[\d.,]+( ?%)?$/.test(cell.trim())

/**
 * Returns whether a line below the header continues it: with the units of numeric columns, or with labels of
 * numeric columns, some of which have no name above, as below merged cells.
 */
export function isSecondHeader(
  first: readonly string[],
  second: readonly string[],
  rows: readonly (readonly string[])[],
): boolean {
  if (first.length < 2 || second.length !== first.length) return false
  const filled = second.flatMap((cell, column) => (cell.trim() === '' ? [] : [{ cell: cell.trim(), column }]))
  const areAbove = filled.filter(({ column }) => {
    const below = rows.map((row) => (row[column] ?? '').trim()).filter((cell) => cell !== '')
    return below.length > 0 && below.filter(isNumber).length > below.length / 2
  })
  if (filled.length === 0 || filled.some(({ cell }) => dataPattern.test(cell))) return false
  // A single word in parentheses, such as (nd), may mean a missing value.
  if (filled.every(({ cell }) => unitPattern.test(cell)))
    return (
      areAbove.length === filled.length && (filled.length > 1 || filled[0]?.cell.startsWith('[') === true)
    )
  const isUnnamed = ({ column }: { column: number }): boolean => (first[column] ?? '').trim() === ''
  return (
    areAbove.length > 1 && areAbove.some(isUnnamed) && areAbove.every(({ cell }) => /\p{L}{2}/u.test(cell))
  )
}

/** Returns the names of columns without units that were joined to them from a second line. */
export function withoutUnits(header: readonly string[]): readonly string[] {
  return header.map((cell) => {
    const start = cell.lastIndexOf(cell.endsWith(']') ? ' [' : ' (')
    return /[\])]$/.test(cell) && start > 0 ? cell.slice(0, start) : cell
  })
}
