/** A field that rows are ordered by. */
export interface OrderKey {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

/** A key as an address has it: with a minus before it, it descends. */
export function signedKey(key: string): OrderKey {
  return key.startsWith('-') ? { field: key.slice(1), direction: 'desc' } : { field: key, direction: 'asc' }
}

/** The field of an order key: `date desc` -> `date`. */
export function orderedField(key: string, known: readonly string[]): string {
  return known.includes(key) ? key : key.replace(/ (asc|desc)$/, '')
}
