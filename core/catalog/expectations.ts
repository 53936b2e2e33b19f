import { z } from 'zod'
import { typeRow, type FieldType } from './field-types.ts'
import {
  below,
  optional,
  plainText,
  requireField,
  typesWith,
  unknownName,
  type ReportFault,
} from './shapes.ts'
import type { Digits, FieldTypeRow } from './types/field-type.ts'

/**
 * Rules for rows that a type cannot express. An ingest publishes nothing while a row breaks one. Null meets
 * all of them except `not_null`.
 */
export type Expectation =
  /** A key implies `not_null`, since its values identify rows. */
  | { readonly kind: 'not_null'; readonly field: string; readonly ofKey?: true }
  | { readonly kind: 'unique'; readonly fields: readonly string[] }
  /** Bounds are allowed values; null means no bound. */
  | {
      readonly kind: 'between'
      readonly field: string
      readonly min: string | null
      readonly max: string | null
    }
  | { readonly kind: 'matches'; readonly field: string; readonly pattern: string }
  | { readonly kind: 'references'; readonly field: string; readonly target: FieldAddress }

export interface FieldAddress {
  readonly dataset: string
  readonly table: string
  readonly field: string
}

const bound = z.union([z.string(), z.number(), z.null()])
type Bound = z.output<typeof bound>

export const fieldExpectations = z.strictObject({
  not_null: z.boolean().default(false).describe('Requires a value in each row.'),
  unique: z.boolean().default(false).describe('Requires that no value occurs twice.'),
  between: optional(
    z.array(bound).length(2, 'must be a list of two bounds, such as [0, 100]; null is an open end'),
  ).describe('Smallest and greatest allowed value, such as [0, 100]; null is an open end.'),
  matches: optional(plainText).describe(
    'Regular expression (RE2) of the complete value, such as "[0-9]{7}".',
  ),
  references: optional(plainText).describe(
    'Field that contains all values, as dataset/table.field, such as places/states.code.',
  ),
})

export const tableExpectations = z.strictObject({
  unique: z
    .array(z.array(plainText).min(1, 'it must name a field'))
    .describe('Lists of fields whose values together occur once, such as [[date, city]].'),
})

interface ExpectingField extends Digits {
  readonly name: string
  readonly type: FieldType
  readonly expect: z.output<typeof fieldExpectations> | null
}

/** A key implies `not_null` and `unique`. */
export function expectationsOf(
  fields: readonly ExpectingField[],
  ofTable: z.output<typeof tableExpectations> | null,
  key: readonly string[],
): Expectation[] {
  const ofFields = fields.flatMap((definition): Expectation[] => {
    const { name: field, expect } = definition
    if (expect === null) return []
    const { between, matches: pattern } = expect
    const target = expect.references === null ? null : addressOf(expect.references)
    const [min = null, max = null] = (between ?? []).map((end) => canonicalBound(end, definition))
    return [
      ...(expect.not_null ? [{ kind: 'not_null', field } as const] : []),
      ...(expect.unique ? [{ kind: 'unique', fields: [field] } as const] : []),
      ...(between === null ? [] : [{ kind: 'between', field, min, max } as const]),
      ...(pattern === null ? [] : [{ kind: 'matches', field, pattern } as const]),
      ...(target === null ? [] : [{ kind: 'references', field, target } as const]),
    ]
  })
  return [
    ...ofFields,
    ...key.map((field) => ({ kind: 'not_null', field, ofKey: true }) as const),
    ...[...(key.length === 0 ? [] : [key]), ...(ofTable?.unique ?? [])].map(
      (names) => ({ kind: 'unique', fields: names }) as const,
    ),
  ]
}

function canonicalBound(
  end: string | number | null,
  { type, ...digits }: { readonly type: FieldType } & Digits,
): string | null {
  return end === null ? null : typeRow(type).parse(String(end), digits)
}

const addressPattern = /^([^/.]+)\/([^/.]+)\.(.+)$/

function addressOf(text: string): FieldAddress | null {
  const [, dataset = '', table = '', field = ''] = addressPattern.exec(text) ?? []
  return field === '' ? null : { dataset, table, field }
}

export function checkFieldExpectations(field: ExpectingField, report: ReportFault): void {
  const { type, expect } = field
  const row = typeRow(type)
  if (expect === null) return
  if (expect.between !== null && !row.isOrdered) {
    const orderedTypes = typesWith((traits) => traits.isOrdered)
    report(['between'], `"between" applies only to fields of type ${orderedTypes}: remove it`)
  } else if (expect.between !== null) checkBetween(expect.between, row, field, report)
  if (expect.matches === null) return
  if (expect.matches.includes('\0'))
    report(['matches'], '"matches" contains a NUL, which no regular expression may have: remove it')
  if (!row.isText)
    report(
      ['matches'],
      `"matches" applies only to fields of type ${typesWith((traits) => traits.isText)}: remove it`,
    )
}

function checkBetween(ends: readonly Bound[], row: FieldTypeRow, digits: Digits, report: ReportFault): void {
  const parsedEnds = ends.map((end) => (end === null ? null : row.parse(String(end), digits)))
  for (const [index, end] of ends.entries()) {
    if (end !== null && parsedEnds[index] === null)
      report(['between', index], `${JSON.stringify(end)} is no bound: expected ${row.expects(digits)}`)
  }
  const [min = null, max = null] = parsedEnds
  if (min !== null && max !== null && row.compare(min, max) > 0)
    report(['between'], `the bounds ${min} and ${max} exclude every value: exchange them`)
}

export interface ReferringTable {
  /** `dataset/table`. */
  readonly id: string
  readonly fields: readonly ExpectingField[]
  readonly report: ReportFault
}

/**
 * Checks that referenced fields exist with the same type, and that references have no cycle.
 * @param ids ids of all tables, also of malformed ones
 */
export function checkReferences(tables: readonly ReferringTable[], ids: readonly string[]): void {
  const referencesByTable = new Map<string, Set<string>>()
  for (const { id: from, fields, report: reportTable } of tables) {
    for (const [index, field] of fields.entries()) {
      const text = field.expect?.references ?? null
      if (text === null) continue
      const report = below(reportTable, 'fields', index, 'expect', 'references')
      const address = addressOf(text)
      if (address === null) {
        report(
          [],
          `"${text}" is not a field of a table: write dataset/table.field, such as places/states.code`,
        )
        continue
      }
      const to = `${address.dataset}/${address.table}`
      if (!ids.includes(to)) {
        report([], unknownName('table', to, ids))
        continue
      }
      const target = tables.find(({ id }) => id === to)
      if (target !== undefined) checkTarget(field, target, address.field, report)
      if (from !== to) referencesByTable.set(from, (referencesByTable.get(from) ?? new Set()).add(to))
      if (reaches(referencesByTable, to, from))
        report([], `${from} and ${to} wait for each other, so neither can be published: remove one reference`)
    }
  }
}

function checkTarget(
  field: ExpectingField,
  { fields }: ReferringTable,
  name: string,
  report: ReportFault,
): void {
  const target = fields.find((candidate) => candidate.name === name)
  if (target === undefined)
    return requireField(
      name,
      [],
      fields.map((candidate) => candidate.name),
      report,
    )
  const [ownForm, targetForm] = [field, target].map((definition) =>
    typeRow(definition.type).stored(definition),
  )
  if (ownForm !== targetForm)
    report([], `"${name}" has the type ${target.type}, and this field ${field.type}: give both the same type`)
}

function reaches(targets: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const visited = new Set<string>()
  const waiting = [...(targets.get(from) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === to) return true
    if (visited.has(next)) continue
    visited.add(next)
    waiting.push(...(targets.get(next) ?? []))
  }
  return false
}
