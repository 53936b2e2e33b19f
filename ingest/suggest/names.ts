const asciiLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  đ: 'd',
  ı: 'i',
}

/** Lower-case letters, digits and underscores, unique. */
export function namesFor(header: readonly string[], hasHeader: boolean): string[] {
  const names = new Set<string>()
  for (const [index, cell] of header.entries()) {
    const plainName = hasHeader
      ? cell
          .normalize('NFD')
          .replaceAll(/[\p{M}\p{Cf}]/gu, '')
          .toLowerCase()
      : ''
    const word = plainName
      .replaceAll(/[ßłøæœđı]/g, (letter) => asciiLetters[letter] ?? '')
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_|_$/g, '')
    const name = /^[a-z]/.test(word) ? word : `column_${index + 1}${word === '' ? '' : `_${word}`}`
    let uniqueName = name
    for (let number = index + 1; names.has(uniqueName); number += 1) uniqueName = `${name}_${number}`
    names.add(uniqueName)
  }
  return [...names]
}

/** Returns whether columns have unique names, by which they can be renamed. */
export function canBeMatched(header: readonly string[]): boolean {
  return new Set(header).size === header.length && !header.some((cell) => cell === '' || cell === '__proto__')
}

export function tableNameFor(file: string): string {
  const name = file
    .toLowerCase()
    .replace(/\.(csv|txt|tsv|gz|zst|zip)\b.*$/s, '')
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9_-]+/g, '_')
    .replaceAll(/^[_-]+|(?<![_-])[_-]+$/g, '')
  return name === '' ? 'table' : name.slice(0, 100)
}
