import { tableId, type Field, type Table } from '../../core/catalog/catalog.ts'
import type { FieldType } from '../../core/catalog/field-types.ts'
import { isoDate } from './people.ts'
import type { Random } from './random.ts'
import { eachRow, type Cell, type SampleTable } from './samples.ts'
import { cityHeads } from './vocabulary.ts'

const rowsOfAny = 1000
const nullShare = 0.05

/** The sample of a table that nobody described: values by the types of its fields. */
export function genericSample(table: Table): SampleTable {
  return eachRow(tableId(table), rowsOfAny, (random) =>
    Object.fromEntries(table.fields.map((field) => [field.name, cell(field, random)])),
  )
}

const makers: Readonly<Record<FieldType, (random: Random, field: Field) => Cell>> = {
  string: (random) => `${random.pick(cityHeads)} ${random.between(1, 99)}`,
  text: (random) => `${random.pick(cityHeads)}, "${random.pick(cityHeads)}"\n${random.pick(cityHeads)}`,
  integer: (random) => random.between(-5, 100_000),
  float: (random) => (random.next() * 100).toFixed(4),
  decimal: (random, { precision, scale }) =>
    `${random.chance(0.05) ? '-' : ''}${random.between(0, 10 ** Math.min(precision - scale, 5) - 1)}${scale === 0 ? '' : `.${random.digits(scale)}`}`,
  bool: (random) => random.chance(0.5),
  date: (random) => isoDate(random, 2010, 2025),
  datetime: (random) =>
    `${isoDate(random, 2010, 2025)} ${random.between(10, 23)}:${random.between(10, 59)}:00`,
}

function cell(field: Field, random: Random): Cell {
  return random.chance(nullShare) ? null : makers[field.type](random, field)
}
