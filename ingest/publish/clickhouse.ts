import { withoutFinalZeros } from '../../core/text.ts'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import type { ClickHouse } from '../../core/clickhouse/link.ts'
import {
  clickHouseName,
  clickHousePrefix,
  createStatements,
  dropStatements,
  loadingName,
  quotedTable,
  renameStatement,
  rowColumn,
  syncStatements,
  writtenColumns,
} from '../../core/clickhouse/tables.ts'
import { quotedText } from '../../core/sql.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { sortedRowsSql, sortedSql, type Conversion } from '../convert/conversion.ts'
import type { Progress } from '../base/progress.ts'
import { TableFailure } from '../base/rejects.ts'

const pieceRows = 1_048_576

/**
 * Loads columns for conditions and orders into a ClickHouse table, which gets its final name only after a
 * comparison.
 * @throws TableFailure if the loaded data differs
 */
export async function loadClickHouse(
  conversion: Conversion,
  link: ClickHouse,
  snapshot: SnapshotId,
  rows: number,
  progress: Progress,
): Promise<void> {
  const { table, db, scratch } = conversion
  const name = clickHouseName(table, snapshot)
  const columns = writtenColumns(table, 'file_row_number')
  // Drop tables that a killed job left behind.
  for (const statement of [
    ...dropStatements(name, link.cluster),
    ...createStatements(table, name, link.cluster),
  ])
    await link.command(statement)
  const file = path.join(scratch, 'clickhouse.parquet')
  for (let first = 0; first < rows; first += pieceRows) {
    const count = Math.min(pieceRows, rows - first)
    await db.rows(`copy (select ${columns.map((column) => `${column.sql} as ${column.name}`).join(', ')}
      from ${sortedRowsSql(conversion, first, count)}) to ${quotedText(file)} (format parquet, codec zstd)`)
    await link.insertParquet(
      quotedTable(loadingName(name)),
      columns.map((column) => column.name),
      file,
    )
    await rm(file)
    progress.advance({ fraction: (first + count) / rows, rows: first + count })
  }
  for (const statement of syncStatements(name, link.cluster)) await link.command(statement)
  if (rows > 0) await verifyLoadedRows(conversion, link, loadingName(name), rows)
  await link.command(renameStatement(name, link.cluster))
}

/** Compares each column: number of values, bytes of texts, bounds of other values, and sums of integers. */
async function verifyLoadedRows(
  conversion: Conversion,
  link: ClickHouse,
  name: string,
  rows: number,
): Promise<void> {
  const { table, db } = conversion
  const columns = writtenColumns(table, 'file_row_number')
  const from = `(select ${columns.map((column) => `${column.sql} as ${column.name}`).join(', ')} from ${sortedSql(conversion)})`
  const typeTerms = columns.map((column) => `typeof(any_value(${column.name}))`)
  const [types = []] = await db.rows(`select ${typeTerms.join(', ')} from ${from}`)
  const aggregates = columns.map(({ name: column }, place) => {
    const type = String(types[place])
    const boundsOf = (text: (value: string) => string): string[] =>
      [`min(${column})`, `max(${column})`].map(text)
    if (type === 'VARCHAR')
      return {
        ours: [`count(${column})`, `coalesce(sum(strlen(${column})), 0)`],
        theirs: [`count(${column})`, `ifNull(sum(length(${column})), 0)`],
      }
    const [duckdbEnds, clickHouseEnds] = [
      boundsOf((end) => `coalesce(${end}::varchar, '')`),
      boundsOf((end) => `ifNull(toString(${end}), '')`),
    ]
    if (type.startsWith('DECIMAL'))
      return { ours: [`count(${column})`, ...duckdbEnds], theirs: [`count(${column})`, ...clickHouseEnds] }
    // All other types are stored as integers.
    return {
      ours: [`count(${column})`, ...duckdbEnds, `coalesce(sum(${column}::hugeint), 0)`],
      theirs: [`count(${column})`, ...clickHouseEnds, `ifNull(sum(toInt128(${column})), 0)`],
    }
  })
  const duckdbChecksums = aggregates.map((aggregate) =>
    concatSql(aggregate.ours, 'concat_ws', (term) => `(${term})::varchar`),
  )
  const clickHouseChecksums = aggregates.map((aggregate) =>
    concatSql(aggregate.theirs, 'concatWithSeparator', (term) => `toString(${term})`),
  )
  const [expectedRow = []] = await db.rows(`select ${duckdbChecksums.join(', ')} from ${from}`)
  const [actualRow = []] = await link.rows(
    `select ${clickHouseChecksums.join(', ')} from ${quotedTable(name)}`,
  )
  for (const [place, { name: column }] of columns.entries()) {
    const [expectedChecksum, actualChecksum] = [
      withoutTrailingZeros(String(expectedRow[place])),
      withoutTrailingZeros(actualRow[place] ?? ''),
    ]
    if (expectedChecksum === actualChecksum) continue
    throw new TableFailure(
      `verification of the rows in ClickHouse failed: ${column === rowColumn ? 'rows' : column} has the checksum ${actualChecksum} instead of ${expectedChecksum}; nothing was published`,
    )
  }
  // Sums do not exclude duplicates, so each position must occur exactly once.
  const [[distinctRows] = []] = await link.rows(
    `select toString(uniqExact(${rowColumn})) from ${quotedTable(name)}`,
  )
  if (Number(distinctRows) !== rows)
    throw new TableFailure(
      `verification of the rows in ClickHouse failed: it has ${distinctRows ?? 'no'} rows instead of ${rows}; nothing was published`,
    )
}

function concatSql(terms: readonly string[], join: string, text: (term: string) => string): string {
  return `${join}(' ', ${terms.map(text).join(', ')})`
}

/** DuckDB and ClickHouse differ in trailing zeros of fractions. */
function withoutTrailingZeros(texts: string): string {
  return texts.split(' ').map(withoutFinalZeros).join(' ')
}

export async function hasLoaded(
  link: ClickHouse,
  table: Table,
  snapshot: SnapshotId,
  rows: number,
): Promise<boolean> {
  const name = clickHouseName(table, snapshot)
  const tables = await link.rows(
    'select name from system.tables where database = currentDatabase() and name = {name:String}',
    { name },
  )
  if (tables.length === 0) return false
  const [[count] = []] = await link.rows(`select toString(count()) from ${quotedTable(name)}`)
  return Number(count) === rows
}

export async function dropForgotten(
  link: ClickHouse,
  table: Table,
  keptSnapshots: ReadonlySet<SnapshotId>,
): Promise<void> {
  const prefix = clickHousePrefix(table)
  const names = await link.rows(
    'select name from system.tables where database = currentDatabase() and startsWith(name, {prefix:String})',
    { prefix },
  )
  for (const [name = ''] of names) {
    // A snapshot may also have tables that end in `/loading` or `/local`.
    const [snapshot = ''] = name.slice(prefix.length).split('/')
    if (keptSnapshots.has(snapshot as SnapshotId)) continue
    for (const statement of dropStatements(`${prefix}${snapshot}`, link.cluster))
      await link.command(statement)
  }
}
