/** Returns the cells without consecutive years, which are common names of columns. */
function withoutYears(cells: readonly string[]): readonly string[] {
  const years = cells.filter((cell) => /^(1[89]|20)\d\d$/.test(cell)).map(Number)
  const [first = 0] = years
  const follow = years.length > 1 && years.every((year, index) => year === first + index)
  return follow ? cells.filter((cell) => !years.includes(Number(cell))) : cells
}

/** Matches a number or the start of a date. */
const dataPattern = /^-?[\d.,]+$|^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}/

export function isLikelyHeader(cells: readonly string[]): boolean {
  return (
    !withoutYears(cells).some((cell) => dataPattern.test(cell.trim())) &&
    cells.filter((cell) => cell !== '').length >= cells.length / 2
  )
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
