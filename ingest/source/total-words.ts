export const totalWords =
  '^(grand )?(sub-?)?(totals?|total geral|totais|sum|soma|suma|somme|summe|gesamt|insgesamt|ensemble|totale)'

/** A total without a name; "Total Energies" may be a name. */
const plainTotalPattern = new RegExp(`${totalWords}[ :]*$`, 'i')

/** Judges the first value of a row. */
export function isTotal(text: string): boolean {
  return plainTotalPattern.test(text.trim())
}
