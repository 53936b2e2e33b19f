import { tableId, type Field, type Table } from '../catalog/catalog.ts'
import { typeRow } from '../catalog/field-types.ts'
import type { SnapshotId } from '../warehouse/layout.ts'
import { foldedSql } from '../folding.ts'

/**
 * ClickHouse has only the positions of rows, and columns for conditions and orders. Values compare as in
 * DuckDB, including dates, accents and nulls.
 */
export interface ClickHouseColumn {
  readonly name: string
  readonly type: string
  /** SQL of DuckDB that converts a value for ClickHouse. */
  readonly literalOf: (value: string) => string
  readonly parameter: (value: string) => string
  /** Column of folded texts; null if values are not texts. */
  readonly foldedColumn: string | null
}

/** Name of the column with the position of a row in its snapshot. */
export const rowColumn = 'row'

/** Consecutive rows on one server, so that most pages need only one. */
const shardRows = 1_000_000

/** Omits types whose values only DuckDB compares correctly. */
export function clickHouseColumns(table: Table): Map<string, ClickHouseColumn> {
  const queryFields = new Set([...table.filters, ...table.search])
  const columns = table.fields.flatMap((field, index): [string, ClickHouseColumn][] => {
    const form = queryFields.has(field.name) ? formOf(field) : null
    if (form === null) return []
    const foldedColumn = typeRow(field.type).isText ? `f${index}_folded` : null
    return [[field.name, { name: `f${index}`, foldedColumn, ...form }]]
  })
  return new Map(columns)
}

type Form = Pick<ClickHouseColumn, 'type' | 'literalOf' | 'parameter'>

const asItIs = (value: string): string => value

function formOf(field: Field): Form | null {
  const storedType = typeRow(field.type).stored(field)
  switch (storedType) {
    case 'VARCHAR':
      return { type: 'String', literalOf: asItIs, parameter: asItIs }
    case 'BIGINT':
      return { type: 'Int64', literalOf: asItIs, parameter: asItIs }
    case 'BOOLEAN':
      return {
        type: 'UInt8',
        literalOf: (value) => `${value}::utinyint`,
        parameter: (value) => (value === 'true' ? '1' : '0'),
      }
    // Stores dates as numbers, since dates of ClickHouse begin in 1900.
    case 'DATE':
      return {
        type: 'Int32',
        literalOf: (value) => `(${value} - date '1970-01-01')::integer`,
        parameter: daysOf,
      }
    case 'TIMESTAMP':
      return { type: 'Int64', literalOf: (value) => `epoch_us(${value})::bigint`, parameter: microsecondsOf }
    default:
      return storedType.startsWith('DECIMAL')
        ? { type: storedType.replace('DECIMAL', 'Decimal'), literalOf: asItIs, parameter: asItIs }
        : // DuckDB compares NaN in its own way, so doubles have no column.
          null
  }
}

const dayMs = 86_400_000

function daysOf(date: string): string {
  return String(Date.parse(`${date}T00:00:00Z`) / dayMs)
}

function microsecondsOf(moment: string): string {
  const [, seconds = '', fraction = ''] = /^(\S+?[ T]\d\d:\d\d:\d\d)(?:\.(\d+))?$/.exec(moment) ?? []
  return String(BigInt(Date.parse(`${seconds.replace(' ', 'T')}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0')))
}

export const quotedTable = (name: string): string => `\`${name.replaceAll(/[\\`]/g, String.raw`\$&`)}\``

export function clickHouseName(table: Pick<Table, 'dataset' | 'name'>, snapshot: SnapshotId): string {
  return `${tableId(table)}/${snapshot}`
}

export function clickHousePrefix(table: Pick<Table, 'dataset' | 'name'>): string {
  return `${tableId(table)}/`
}

/**
 * Columns of the Parquet file that ClickHouse loads, as SQL over the fields `f0`, `f1`, ...
 * @param position SQL of the position of a row
 */
export function writtenColumns(
  table: Table,
  position: string,
): { readonly name: string; readonly sql: string }[] {
  const byField = clickHouseColumns(table)
  const columns = table.fields.flatMap((field, index) => {
    const column = byField.get(field.name)
    if (column === undefined) return []
    const { name, foldedColumn, literalOf } = column
    const valueColumn = { name, sql: literalOf(`f${index}`) }
    return foldedColumn === null
      ? [valueColumn]
      : [valueColumn, { name: foldedColumn, sql: foldedSql(`f${index}`) }]
  })
  return [{ name: rowColumn, sql: `(${position})::uinteger` }, ...columns]
}

export const loadingName = (name: string): string => `${name}/loading`

/**
 * Statements that create an empty table under its loading name: on one server, or replicated in a cluster and
 * distributed by position.
 */
export function createStatements(table: Table, name: string, cluster: string | null): string[] {
  const columnsByField = clickHouseColumns(table)
  const columns = [...columnsByField]
  const stored = columns.flatMap(([, { name: column, type, foldedColumn }]) => [
    `${column} Nullable(${type})`,
    ...(foldedColumn === null ? [] : [`${foldedColumn} Nullable(String)`]),
  ])
  const indexes = columns
    .filter(([field]) => table.filters.includes(field))
    .map(([, { name: column, type }]) => {
      // Bloom filters do not support decimals.
      const kind = type.startsWith('Decimal') ? 'minmax' : 'bloom_filter(0.01)'
      return `index i_${column} ${column} type ${kind} granularity 1`
    })
  const projections = table.orders.flatMap(({ keys }, number) => {
    const keyColumns = keys.flatMap(({ field }) => columnsByField.get(field)?.name ?? [])
    const columnNames = [rowColumn, ...columns.map(([, { name: column }]) => column)]
    return keyColumns.length === keys.length
      ? [
          `projection p_${number} (select ${columnNames.join(', ')} order by ${[...keyColumns, rowColumn].join(', ')})`,
        ]
      : []
  })
  const body = `(${[`${rowColumn} UInt32`, ...stored, ...indexes, ...projections].join(', ')})`
  const settings = 'settings index_granularity = 1024, allow_nullable_key = 1'
  const loadingTable = quotedTable(loadingName(name))
  if (cluster === null)
    return [`create table ${loadingTable} ${body} engine = MergeTree order by ${rowColumn} ${settings}`]
  const local = `${name}/local`
  const path = quotedText(`/clickhouse/tables/{shard}/${name}`)
  return [
    `create table ${quotedTable(local)} on cluster ${quotedTable(cluster)} ${body}
      engine = ReplicatedMergeTree(${path}, '{replica}') order by ${rowColumn} ${settings}`,
    `create table ${loadingTable} on cluster ${quotedTable(cluster)} as ${quotedTable(local)}
      engine = Distributed(${quotedText(cluster)}, currentDatabase(), ${quotedText(local)}, intDiv(${rowColumn}, ${shardRows}))`,
  ]
}

/** Statements that wait until every replica has all rows. */
export function syncStatements(name: string, cluster: string | null): string[] {
  return cluster === null
    ? []
    : [`system sync replica on cluster ${quotedTable(cluster)} ${quotedTable(`${name}/local`)}`]
}

export function renameStatement(name: string, cluster: string | null): string {
  const on = cluster === null ? '' : ` on cluster ${quotedTable(cluster)}`
  return `rename table ${quotedTable(loadingName(name))} to ${quotedTable(name)}${on}`
}

export function dropStatements(name: string, cluster: string | null): string[] {
  const on = cluster === null ? '' : ` on cluster ${quotedTable(cluster)}`
  const names = [name, loadingName(name), ...(cluster === null ? [] : [`${name}/local`])]
  return names.map((table) => `drop table if exists ${quotedTable(table)}${on} sync`)
}

const quotedText = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
