import { tableId, type Field, type Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Random } from './random.ts'
import { eachRow, type Cell, type SampleTable } from './samples.ts'

const rowsOfAny = 1000
const nullShare = 0.05

/** Returns the sample of a table that has no generator of its own: random values of the types of its fields. */
export function genericSample(table: Table): SampleTable {
  return eachRow(tableId(table), rowsOfAny, (random) =>
    Object.fromEntries(table.fields.map((field) => [field.name, cell(field, random)])),
  )
}

function cell(field: Field, random: Random): Cell {
  return random.chance(nullShare) ? null : typeRow(field.type).sample(random, field)
}
