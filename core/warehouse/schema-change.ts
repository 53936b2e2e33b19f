import { tableId, type Table } from '../catalog/catalog.ts'
import { storedFields, unitsOf, type Manifest } from './manifest.ts'

interface SchemaField {
  readonly name: string
  readonly type: string
  /** Absent in older manifests. */
  readonly stored?: string | undefined
}

interface Schema {
  readonly fields: readonly SchemaField[]
  /** Units by field; absent in older manifests. */
  readonly units?: Readonly<Record<string, string>> | undefined
}

interface Replaced {
  readonly name: string
  readonly from: string
  readonly to: string
}

interface SchemaChange {
  /** `additive` if programs still find everything that they read before. */
  readonly kind: 'none' | 'additive' | 'breaking'
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Fields with a new name, but the same place and type. */
  readonly renamed: readonly Replaced[]
  /** The new type lacks some of the earlier values. */
  readonly retyped: readonly Replaced[]
  /** The new type has more values, such as a decimal of more digits. */
  readonly widened: readonly Replaced[]
  readonly remeasured: readonly Replaced[]
}

export function schemaChangeOf({ fields, units, before }: Manifest): SchemaChange | null {
  return before === undefined ? null : compareSchemas(before, { fields, units })
}

/** The command that publishes a table as it is declared now: a breaking change needs consent. */
export function republishCommand(table: Table, published: Manifest): string {
  const { kind } = compareSchemas(published, { fields: storedFields(table), units: unitsOf(table) })
  return `\`acervo ingest ${kind === 'breaking' ? '--accept-drift ' : ''}${tableId(table)}\``
}

/**
 * Classifies the differences of two schemas. A new field with the place and type of a removed field counts as
 * renamed.
 */
export function compareSchemas(before: Schema, now: Schema): SchemaChange {
  const fieldNamed = ({ fields }: Schema, name: string): SchemaField | undefined =>
    fields.find((field) => field.name === name)
  const isNew = ({ name }: SchemaField): boolean => fieldNamed(before, name) === undefined
  const isGone = ({ name }: SchemaField): boolean => fieldNamed(now, name) === undefined
  const renamed = now.fields.flatMap((field, place) => {
    const replacedField = before.fields[place]
    const isReplaced = replacedField !== undefined && isNew(field) && isGone(replacedField)
    return isReplaced && replacedField.type === field.type
      ? [{ name: field.name, from: replacedField.name, to: field.name }]
      : []
  })
  const added = now.fields.filter((field) => isNew(field) && !renamed.some(({ to }) => to === field.name))
  const removedFields = before.fields.filter(
    (field) => isGone(field) && !renamed.some(({ from }) => from === field.name),
  )
  const typeChanges = now.fields.flatMap((field) => {
    const earlierField = fieldNamed(before, field.name)
    if (earlierField === undefined) return []
    const [from, to] = [earlierField, field].map(({ type, stored }) =>
      type === 'decimal' && stored !== undefined ? stored.toLowerCase() : type,
    ) as [string, string]
    // An older manifest does not say how many digits its decimals have.
    const isSame = from === to || (field.type === earlierField.type && earlierField.stored === undefined)
    return isSame
      ? []
      : [{ name: field.name, from, to, isWider: holdsAll(field.stored, earlierField.stored) }]
  })
  const remeasured = now.fields.flatMap(({ name }) => {
    const [from, to] = [before, now].map(({ units = {} }) =>
      Object.hasOwn(units, name) ? units[name] : undefined,
    )
    return from === undefined || to === undefined || from === to ? [] : [{ name, from, to }]
  })
  const widened = typeChanges.filter(({ isWider }) => isWider)
  const retyped = typeChanges.filter(({ isWider }) => !isWider)
  const isBreaking = [removedFields, renamed, retyped, remeasured].some((items) => items.length > 0)
  return {
    kind: isBreaking ? 'breaking' : added.length + widened.length > 0 ? 'additive' : 'none',
    added: added.map(({ name }) => name),
    removed: removedFields.map(({ name }) => name),
    renamed,
    retyped: retyped.map(withoutWidth),
    widened: widened.map(withoutWidth),
    remeasured,
  }
}

function withoutWidth({ name, from, to }: Replaced): Replaced {
  return { name, from, to }
}

function digitsIn(type: string): { precision: number; scale: number } | null {
  const [, precision, scale] =
    /^DECIMAL\((\d+),(\d+)\)$/.exec(type === 'BIGINT' ? 'DECIMAL(19,0)' : type) ?? []
  return precision === undefined ? null : { precision: Number(precision), scale: Number(scale) }
}

/** Returns whether a type of DuckDB has all values of another. */
export function holdsAll(type: string | undefined, narrower: string | undefined): boolean {
  if (type === undefined || narrower === undefined) return false
  const [digits, narrow] = [digitsIn(type), digitsIn(narrower)]
  if (type === narrower || digits === null || narrow === null) return type === narrower
  return digits.scale >= narrow.scale && digits.precision - digits.scale >= narrow.precision - narrow.scale
}

export function breakingPhrases({ removed, renamed, retyped, remeasured }: SchemaChange): string[] {
  return [
    ...removed.map((name) => `"${name}" is removed`),
    ...renamed.map(({ from, to }) => `"${from}" is renamed to "${to}"`),
    ...retyped.map(({ name, from, to }) => `"${name}" has the type ${to} instead of ${from}`),
    ...remeasured.map(({ name, from, to }) => `"${name}" has the unit ${to} instead of ${from}`),
  ]
}

export function schemaPhrases(change: SchemaChange): string[] {
  return [
    ...breakingPhrases(change),
    ...change.added.map((name) => `"${name}" is new`),
    ...change.widened.map(({ name, from, to }) => `"${name}" has the wider type ${to} instead of ${from}`),
  ]
}
