/**
 * Parses values between commas, as in CSV. Blanks around a value are ignored; values with a comma, a quote or
 * blanks at their ends need quotes. `""` is the empty text.
 * @returns null if a quote is misplaced, or a value is empty without quotes
 */
export function parseList(text: string): string[] | null {
  const values: string[] = []
  const item = /\s*(?:"((?:[^"]|"")*)"\s*|([^\s",][^",]*))(,|$)/y
  for (let end = ','; end === ',';) {
    const match = item.exec(text)
    if (match === null) return null
    const [, quoted, plain = '', after = ''] = match
    values.push(quoted === undefined ? plain.trimEnd() : quoted.replaceAll('""', '"'))
    end = after
  }
  return values
}

export function formatList(values: readonly string[]): string {
  return values.map((value) => (isReadAsItIs(value) ? value : inQuotes(value))).join(',')
}

export function quotedList(values: readonly string[]): string {
  return values.map(inQuotes).join(',')
}

function inQuotes(value: string): string {
  return `"${value.replaceAll('"', '""')}"`
}

function isReadAsItIs(value: string): boolean {
  // At an end of the list, brackets would look like those around it.
  const isBracketed = /^[([{]|[)\]}]$/.test(value)
  return value !== '' && value === value.trim() && !/[",;|\r\n]/.test(value) && !isBracketed
}

const brackets = ['[]', '()', '{}']

function hasBrackets(text: string): boolean {
  return brackets.some(([open = '', close = '']) => text.startsWith(open) && text.endsWith(close))
}

const separators = [';', '|', '\n'] as const

/** Corrects a list in brackets, or with other separators; null for other texts. */
export function correctedList(text: string): string | null {
  const trimmedText = text.trim()
  const inner = hasBrackets(trimmedText) ? trimmedText.slice(1, -1) : trimmedText
  const separator = /[",]/.test(inner) ? undefined : separators.find((sign) => inner.includes(sign))
  if (inner === trimmedText && separator === undefined) return null
  const items = inner.split(separator ?? ',').map((item) => item.trim().replaceAll(/^(['"])(.*)\1$/gs, '$2'))
  return formatList(items.filter((item) => item !== ''))
}
