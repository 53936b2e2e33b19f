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
