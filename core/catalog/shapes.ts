import { z } from 'zod'
import { didYouMean } from '../text.ts'
import { fieldTypeNames, typeRow } from './field-types.ts'
import { languages, type Language } from './names.ts'
import type { FieldTypeRow } from './types/field-type.ts'

export type Path = readonly (string | number)[]
export type ReportFault = (path: Path, message: string) => void

/** Returns a function that reports faults of a part, whose paths begin at the part. */
export function below(report: ReportFault, ...parent: Path): ReportFault {
  return (path, message) => report([...parent, ...path], message)
}

export class Texts {
  readonly #texts: string | Readonly<Partial<Record<Language, string>>>

  constructor(texts: string | Readonly<Partial<Record<Language, string>>>) {
    this.#texts = texts
  }

  in(language: Language | null): string {
    if (typeof this.#texts === 'string') return this.#texts
    const [first = ''] = Object.values(this.#texts)
    return (language === null ? undefined : this.#texts[language]) ?? first
  }
}

type CamelCase<Key> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key

/** Renames the keys of the catalog, such as `min_group_size`, to those of the code, such as `minGroupSize`. */
export function camelKeys<T extends object>(value: T): { [Key in keyof T as CamelCase<Key>]: T[Key] } {
  const renamed = Object.entries(value).map(([key, item]: [string, unknown]) => [
    key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    item,
  ])
  return Object.fromEntries(renamed) as { [Key in keyof T as CamelCase<Key>]: T[Key] }
}

export function omit<T extends object, Key extends keyof T>(value: T, keys: readonly Key[]): Omit<T, Key> {
  const omitted: ReadonlySet<PropertyKey> = new Set(keys)
  return Object.fromEntries(Object.entries(value).filter(([key]) => !omitted.has(key))) as Omit<T, Key>
}

export function optional<T extends z.ZodType>(schema: T) {
  return schema.optional().transform((value) => value ?? null)
}

export function mapOf<T extends z.ZodType>(values: T) {
  return z
    .record(z.string(), values)
    .prefault({})
    .transform((record) => new Map(Object.entries(record)))
}

export const plainText = z.string().min(1, 'must not be empty')
export const names = z.array(plainText)

export const texts = z
  .union([
    plainText,
    z
      .partialRecord(z.enum(languages), plainText)
      .refine(
        (translations) => Object.keys(translations).length > 0,
        'must be given in at least one language',
      ),
  ])
  .transform((value) => new Texts(value))

const pathNamePattern = /^[a-z0-9][a-z0-9_-]{0,99}$/

export function isPathName(name: string): boolean {
  return pathNamePattern.test(name)
}

export const pathName = z
  .string()
  .regex(pathNamePattern, 'must be lower-case letters, digits, - and _, starting with a letter or digit')

export const address = z
  .string()
  .refine(isWebAddress, 'must be a full address that starts with http:// or https://')

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value)
}

export const timezone = z
  .string()
  .refine(isTimezone, 'must be a time zone by its IANA name, such as America/Sao_Paulo or UTC')

function isTimezone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export function count(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z.int(message).min(min, message).max(max, message)
}

/** Returns the names of the types with a trait, such as `string or text`. */
export function typesWith(trait: (row: FieldTypeRow) => boolean): string {
  return fieldTypeNames.filter((name) => trait(typeRow(name))).join(' or ')
}

export function requireField(
  name: string,
  path: Path,
  fieldNames: readonly string[],
  report: ReportFault,
): void {
  if (!fieldNames.includes(name)) report(path, unknownName('field', name, fieldNames))
}

export function unknownName(noun: string, name: string, knownNames: readonly string[]): string {
  return `there is no ${noun} "${name}"${didYouMean(name, knownNames)}; known: ${knownNames.join(', ') || 'none'}`
}

export function reportRepeats(
  entries: readonly (readonly [Path, unknown])[],
  noun: string,
  report: ReportFault,
): void {
  const seenNames = new Map<string, string>()
  for (const [path, name] of entries) {
    if (typeof name !== 'string') continue
    const earlierName = seenNames.get(name.toLowerCase())
    if (earlierName === name) report(path, `${noun} "${name}" appears twice: each must be unique`)
    else if (earlierName !== undefined)
      report(path, `${noun} "${name}" differs from "${earlierName}" only in case: rename one of them`)
    else seenNames.set(name.toLowerCase(), name)
  }
}
