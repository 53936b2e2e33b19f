export interface OrderKey {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

export function signedKey(key: string): OrderKey {
  return key.startsWith('-') ? { field: key.slice(1), direction: 'desc' } : { field: key, direction: 'asc' }
}

/** Returns the field of an order key: `date desc` -> `date`. */
export function orderedField(key: string, fieldNames: readonly string[]): string {
  return fieldNames.includes(key) ? key : key.replace(/ (asc|desc)$/, '')
}
