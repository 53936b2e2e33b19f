import type { Field, Table } from '../../core/catalog/catalog.ts'
import { measureFunctionNames } from '../../core/catalog/names.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { didYouMean, shorten } from '../../core/text.ts'
import { Invalid } from './errors.ts'

/** Measures of groups: `rows`, and functions of a field, such as `new_deaths__sum`. */

const functions = {
  count: { isNumeric: false, meaning: 'number of values' },
  distinct: { isNumeric: false, meaning: 'exact number of different values' },
  min: { isNumeric: false, meaning: 'least value' },
  max: { isNumeric: false, meaning: 'greatest value' },
  sum: { isNumeric: true, meaning: 'exact sum' },
  avg: { isNumeric: true, meaning: 'average' },
  median: { isNumeric: true, meaning: 'middle value, or the mean of the two in the middle' },
} as const satisfies Record<
  (typeof measureFunctionNames)[number],
  { readonly isNumeric: boolean; readonly meaning: string }
>

export type MeasureFunction = keyof typeof functions

export const measureFunctions: readonly MeasureFunction[] = measureFunctionNames

export function measureMeaning(name: MeasureFunction): string {
  return functions[name].meaning
}

export type Measure = {
  readonly name: string
  readonly column: Field
} & (
  | { readonly aggregate: 'rows'; readonly field: null }
  | { readonly aggregate: MeasureFunction; readonly field: Field }
)

/** Digits of averages and medians, beyond those of the field. */
const furtherDigits = 6
/** Digits of sums and averages; decimals themselves have at most 38. */
const precisionMax = 80

function isNumeric({ type }: Pick<Field, 'type'>): boolean {
  return typeRow(type).wire.kind === 'number'
}

/** Functions of a field, without those whose measure, such as `deaths__sum`, has the name of another field. */
export function functionsOf({ fields }: Pick<Table, 'fields'>, field: Field): MeasureFunction[] {
  return measureFunctions.filter(
    (functionName) =>
      (isNumeric(field) || !functions[functionName].isNumeric) &&
      fields.every(({ name }) => name !== `${field.name}__${functionName}`),
  )
}

/** `rows`, unless a field has this name. */
export function rowsName({ fields }: Pick<Table, 'fields'>): string {
  let name = 'rows'
  while (fields.some((field) => field.name === name)) name = `_${name}`
  return name
}

/** True for rounded values, written without zeros at the end. */
export function isRounded({ aggregate, column }: Measure): boolean {
  return (aggregate === 'avg' || aggregate === 'median') && column.type === 'decimal'
}

/** A measure means something else than its field. */
const untitled = { title: null, description: null, unit: null }
/** Only minimum and maximum are values of the field, and keep its kind. */
const withoutValueConstraints = { kind: null, valueTitles: new Map<string, string>() }

function columnOf(field: Field, aggregate: MeasureFunction, name: string): Field {
  const column = { ...field, ...untitled, ...withoutValueConstraints, name }
  switch (aggregate) {
    case 'count':
    case 'distinct':
      return { ...column, type: 'integer' }
    case 'min':
    case 'max':
      return { ...field, ...untitled, name }
    default: {
      if (field.type === 'float') return column
      const scale = field.type === 'decimal' ? field.scale : 0
      const extraDigits = aggregate === 'sum' ? 0 : furtherDigits
      return { ...column, type: 'decimal', precision: precisionMax, scale: scale + extraDigits }
    }
  }
}

export function measureOf(table: Table, name: string): Measure | null {
  // A column needs all properties of a field: any serves as template.
  const [anyField] = table.fields
  if (name === rowsName(table) && anyField !== undefined)
    return {
      name,
      aggregate: 'rows',
      field: null,
      column: { ...anyField, ...untitled, ...withoutValueConstraints, name, type: 'integer' },
    }
  const end = name.lastIndexOf('__')
  const field = table.fields.find((item) => end !== -1 && item.name === name.slice(0, end))
  const aggregate =
    field && functionsOf(table, field).find((functionName) => functionName === name.slice(end + 2))
  return field === undefined || aggregate === undefined
    ? null
    : { name, aggregate, field, column: columnOf(field, aggregate, name) }
}

export function rowsMeasure(table: Table): Measure {
  const rows = measureOf(table, rowsName(table))
  if (rows === null) throw new TypeError('table has no fields')
  return rows
}

/** Explains why a name is no measure: it is unknown, a field alone, or a function that its field lacks. */
export function noMeasure(table: Table, name: string): Invalid {
  const shortName = shorten(name)
  // The name `rows` may belong to a field.
  const countName = rowsName(table)
  const isField = table.fields.some((item) => item.name === name)
  const [fieldName, hasFunction] = splitName(name)
  const field = table.fields.find((item) => item.name === (isField ? name : fieldName))
  if (field === undefined) {
    const measureNames = [countName, ...table.fields.flatMap((item) => measureNamesOf(table, item))]
    return unknownMeasure(
      `"${shortName}", which is not a measure${didYouMean(name, measureNames)}; measures are ${countName} and <field>__<function>.`,
    )
  }
  const names = measureNamesOf(table, field)
  const alternatives =
    name === 'rows'
      ? `the number of rows is "${countName}", and measures of the field are ${names.join(', ')}.`
      : `its measures are ${names.join(', ')}.`
  if (!isField)
    return unknownMeasure(
      `"${shortName}", but the field "${field.name}" of type ${field.type} has no such function${didYouMean(name, names)}; ${alternatives}`,
    )
  const looksLikeMeasure = name === 'rows' || hasFunction
  return unknownMeasure(
    looksLikeMeasure
      ? `"${shortName}", which is a field; ${alternatives}`
      : `the field "${shortName}" without a function; ${alternatives}`,
  )
}

function measureNamesOf(table: Table, field: Field): string[] {
  return functionsOf(table, field).map((functionName) => `${field.name}__${functionName}`)
}

/** Splits a name like `deaths__sum` at its last two underscores. */
function splitName(name: string): [field: string, hasFunction: boolean] {
  const end = name.lastIndexOf('__')
  return end === -1 ? [name, false] : [name.slice(0, end), true]
}

function unknownMeasure(namedThing: string): Invalid {
  return new Invalid(`The parameter "measure" names ${namedThing}`, 'unknown-name')
}
