import { didYouMean } from '../text.ts'
import { fieldTypeNames, typeRow } from './field-types.ts'
import { digitsDefault, type Digits, type FieldTypeRow } from './types/field-type.ts'

/** Access to a document before its shape is checked: values of a wrong shape count as missing. */

/** Keys and indexes from the root of the document. */
export type Path = readonly (string | number)[]
export type ReportFault = (path: Path, message: string) => void

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function at(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

export function entries(value: unknown, key: string): [string, unknown][] {
  const found = at(value, key)
  return isRecord(found) ? Object.entries(found) : []
}

export function items(value: unknown, key: string): [number, unknown][] {
  const found = at(value, key)
  return Array.isArray(found) ? [...found.entries()] : []
}

export function strings(value: unknown, key: string): [number, string][] {
  return items(value, key).flatMap(([index, item]) => (typeof item === 'string' ? [[index, item]] : []))
}

/** Returns the row of a field's declared type, if that exists. */
export function rowOf(field: unknown): FieldTypeRow | null {
  const type = fieldTypeNames.find((name) => name === at(field, 'type'))
  return type === undefined ? null : typeRow(type)
}

/** Returns the declared digits of a field, or the default ones. */
export function digitsOf(field: unknown): Digits {
  const [precision, scale] = [at(field, 'precision'), at(field, 'scale')]
  return {
    precision: typeof precision === 'number' ? precision : digitsDefault.precision,
    scale: typeof scale === 'number' ? scale : digitsDefault.scale,
  }
}

export function isString(field: unknown): boolean {
  return rowOf(field)?.isText === true
}

/** Returns the names of the types with a trait, such as `string or text`. */
export function typesWith(trait: (row: FieldTypeRow) => boolean): string {
  return fieldTypeNames.filter((name) => trait(typeRow(name))).join(' or ')
}

export function requireField(name: string, path: Path, known: readonly string[], report: ReportFault): void {
  if (!known.includes(name)) report(path, unknownName('field', name, known))
}

export function unknownName(what: string, name: string, known: readonly string[]): string {
  return `there is no ${what} "${name}"${didYouMean(name, known)}; known: ${known.join(', ') || 'none'}`
}

export function reportRepeats(
  named: readonly (readonly [Path, unknown])[],
  what: string,
  report: ReportFault,
): void {
  const seenNames = new Map<string, string>()
  for (const [path, name] of named) {
    if (typeof name !== 'string') continue
    const earlier = seenNames.get(name.toLowerCase())
    if (earlier === name) report(path, `${what} "${name}" appears twice: each must be unique`)
    else if (earlier !== undefined)
      report(path, `${what} "${name}" differs from "${earlier}" only in case: rename one of them`)
    else seenNames.set(name.toLowerCase(), name)
  }
}
