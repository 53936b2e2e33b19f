import { z } from 'zod'
import { typeRow, type FieldType } from './field-types.ts'
import { plainText } from './metadata.ts'
import {
  at,
  digitsOf,
  items,
  requireField,
  rowOf,
  strings,
  typesWith,
  unknownName,
  type Path,
  type ReportFault,
} from './raw-document.ts'
import type { Digits } from './types/field-type.ts'

/**
 * Expectations: rules for the rows of a table that a type cannot express. An ingest publishes nothing while
 * a row breaks one. Null meets all of them except `not_null`.
 */
export type Expectation =
  | { readonly kind: 'not_null'; readonly field: string }
  /** Values of these fields together occur once. */
  | { readonly kind: 'unique'; readonly fields: readonly string[] }
  /** Bounds in canonical form, both included; null for an open end. */
  | {
      readonly kind: 'between'
      readonly field: string
      readonly min: string | null
      readonly max: string | null
    }
  /** RE2 pattern of the complete value. */
  | { readonly kind: 'matches'; readonly field: string; readonly pattern: string }
  /** Each value occurs in a field of a table. */
  | { readonly kind: 'references'; readonly field: string; readonly target: FieldAddress }

/** A field of any table of the catalog. */
export interface FieldAddress {
  readonly dataset: string
  readonly table: string
  readonly field: string
}

const bound = z.union([z.string(), z.number(), z.null()])

export const fieldExpectations = z.strictObject({
  not_null: z.boolean().optional().describe('Requires a value in each row.'),
  unique: z.boolean().optional().describe('Requires that no value occurs twice.'),
  between: z
    .array(bound)
    .length(2, 'must be a list of two bounds, such as [0, 100]; null is an open end')
    .optional()
    .describe('Smallest and greatest allowed value, such as [0, 100]; null is an open end.'),
  matches: plainText
    .optional()
    .describe('Regular expression (RE2) of the complete value, such as "[0-9]{7}".'),
  references: plainText
    .optional()
    .describe('Field that contains all values, as dataset/table.field, such as places/states.code.'),
})

export const tableExpectations = z.strictObject({
  unique: z
    .array(z.array(plainText).min(1, 'it must name a field'))
    .describe('Lists of fields whose values together occur once, such as [[date, city]].'),
})

interface ExpectingTable {
  readonly expect?: z.infer<typeof tableExpectations> | undefined
  readonly fields: readonly ({
    readonly name: string
    readonly type: FieldType
    readonly expect?: z.infer<typeof fieldExpectations> | undefined
  } & Digits)[]
}

/** Returns the expectations of a checked table, those of each field first. */
export function expectationsOf({ fields, expect: ofTable }: ExpectingTable): Expectation[] {
  const ofFields = fields.flatMap((definition): Expectation[] => {
    const { name: field, expect = {} } = definition
    const [min = null, max = null] = (expect.between ?? []).map((end) => canonicalBound(end, definition))
    return [
      ...(expect.not_null === true ? [{ kind: 'not_null', field } as const] : []),
      ...(expect.unique === true ? [{ kind: 'unique', fields: [field] } as const] : []),
      ...(expect.between === undefined ? [] : [{ kind: 'between', field, min, max } as const]),
      ...(expect.matches === undefined ? [] : [{ kind: 'matches', field, pattern: expect.matches } as const]),
      ...(expect.references === undefined
        ? []
        : [{ kind: 'references', field, target: requireAddress(expect.references) } as const]),
    ]
  })
  return [
    ...ofFields,
    ...(ofTable?.unique ?? []).map((names) => ({ kind: 'unique', fields: names }) as const),
  ]
}

function canonicalBound(
  end: string | number | null,
  { type, ...digits }: { readonly type: FieldType } & Digits,
): string | null {
  return end === null ? null : typeRow(type).parse(String(end), digits)
}

function addressOf(text: string): FieldAddress | null {
  const [, dataset = '', table = '', field = ''] = /^([^/.]+)\/([^/.]+)\.(.+)$/.exec(text) ?? []
  return field === '' ? null : { dataset, table, field }
}

function requireAddress(text: string): FieldAddress {
  const address = addressOf(text)
  if (address === null) throw new Error(`the catalog let the reference ${text} pass`)
  return address
}

/** Checks the expectations of a table, except for references, which need the whole catalog. */
export function checkExpectations(
  table: unknown,
  path: Path,
  known: readonly string[],
  report: ReportFault,
): void {
  for (const [index, field] of items(table, 'fields')) {
    const own = [...path, 'fields', index, 'expect']
    checkBetween(field, [...own, 'between'], report)
    checkMatches(field, [...own, 'matches'], report)
  }
  for (const [index, keys] of items(at(table, 'expect'), 'unique')) {
    for (const [place, name] of strings({ keys }, 'keys'))
      requireField(name, [...path, 'expect', 'unique', index, place], known, report)
  }
}

function checkBetween(field: unknown, path: Path, report: ReportFault): void {
  const ends = at(at(field, 'expect'), 'between')
  const row = rowOf(field)
  if (!Array.isArray(ends) || row === null) return
  if (!row.isOrdered) {
    report(path, `"between" applies only to fields of type ${typesWith((one) => one.isOrdered)}: remove it`)
    return
  }
  const digits = digitsOf(field)
  const parsed = ends.map((end: unknown) => (isBound(end) ? row.parse(String(end), digits) : null))
  for (const [index, end] of ends.entries()) {
    if (isBound(end) && parsed[index] === null)
      report([...path, index], `${JSON.stringify(end)} is no bound: expected ${row.expects(digits)}`)
  }
  const [min = null, max = null] = parsed
  if (min !== null && max !== null && row.compare(min, max) > 0)
    report(path, `the bounds ${min} and ${max} exclude every value: exchange them`)
}

const isBound = (end: unknown): end is string | number => typeof end === 'string' || typeof end === 'number'

function checkMatches(field: unknown, path: Path, report: ReportFault): void {
  const pattern = at(at(field, 'expect'), 'matches')
  if (typeof pattern === 'string' && pattern.includes('\0'))
    report(path, '"matches" contains a NUL, which no regular expression may have: remove it')
  if (pattern === undefined || rowOf(field)?.isText !== false) return
  report(path, `"matches" applies only to fields of type ${typesWith((one) => one.isText)}: remove it`)
}

interface Reference {
  readonly path: Path
  readonly text: string
  readonly from: string
  readonly field: unknown
}

/** Checks that referenced fields exist with the same type, and that no table waits for itself. */
export function checkReferences(root: unknown, report: ReportFault): void {
  const tables = new Map<string, unknown>()
  const references: Reference[] = []
  for (const [datasetIndex, dataset] of items(root, 'datasets')) {
    for (const [tableIndex, table] of items(dataset, 'tables')) {
      const from = `${String(at(dataset, 'slug'))}/${String(at(table, 'name'))}`
      tables.set(from, table)
      for (const [index, field] of items(table, 'fields')) {
        const text = at(at(field, 'expect'), 'references')
        if (typeof text !== 'string') continue
        const path = ['datasets', datasetIndex, 'tables', tableIndex, 'fields', index, 'expect', 'references']
        references.push({ path, text, from, field })
      }
    }
  }
  const targets = new Map<string, Set<string>>()
  for (const { path, text, from, field } of references) {
    const address = addressOf(text)
    if (address === null) {
      report(
        path,
        `"${text}" is not a field of a table: write dataset/table.field, such as places/states.code`,
      )
      continue
    }
    const to = `${address.dataset}/${address.table}`
    if (!tables.has(to)) {
      report(path, unknownName('table', to, [...tables.keys()]))
      continue
    }
    checkTarget(field, tables.get(to), address.field, path, report)
    if (from !== to) targets.set(from, (targets.get(from) ?? new Set()).add(to))
    if (reaches(targets, to, from))
      report(path, `${from} and ${to} wait for each other, so neither can be published: remove one reference`)
  }
}

function checkTarget(field: unknown, table: unknown, name: string, path: Path, report: ReportFault): void {
  const fields = items(table, 'fields').map(([, one]) => one)
  const names = fields.map((one) => String(at(one, 'name')))
  const target = fields[names.indexOf(name)]
  if (target === undefined) return requireField(name, path, names, report)
  const [own, other] = [storedTypeOf(field), storedTypeOf(target)]
  if (own === null || other === null || own === other) return
  const types = [target, field].map((one) => String(at(one, 'type')))
  report(path, `"${name}" has the type ${types.join(', and this field ')}: give both the same type`)
}

/** Returns the type of a field in Parquet, if the declared type exists. */
function storedTypeOf(field: unknown): string | null {
  return rowOf(field)?.stored(digitsOf(field)) ?? null
}

/** Returns whether references lead from one table to another. */
function reaches(targets: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set<string>()
  const waiting = [...(targets.get(from) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === to) return true
    if (seen.has(next)) continue
    seen.add(next)
    waiting.push(...(targets.get(next) ?? []))
  }
  return false
}
