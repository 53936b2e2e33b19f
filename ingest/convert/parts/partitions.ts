import { hidesRows, tableId } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { orderTerm } from '../../../core/sql.ts'
import { TableFailure } from '../../base/rejects.ts'
import type { ReadSource } from '../../source/read.ts'
import { type Staged, type Conversion, numberOf, stagedSql } from '../conversion.ts'

/** Sorted rows of one partition, or of the whole table without partitions. */
export interface SortedPartition {
  readonly value: string | null
  readonly rows: number
  /** Indexes among the files that were read. */
  readonly files: readonly number[]
}

/**
 * Partitions in the order of the table.
 * @throws TableFailure if a file has rows of several partitions
 */
export async function partitionsIn(
  conversion: Conversion,
  staged: Staged,
  read: ReadSource,
): Promise<SortedPartition[]> {
  const { table, fields, db } = conversion
  const index = fields.findIndex(({ field }) => field.name === table.partition)
  const field = fields[index]?.field
  if (field === undefined) throw new RangeError(`${tableId(table)} has no partitions`)
  if (staged.goodRows === 0) return []
  let recordsBefore = 0
  const fileRanges = read.fileCounts.map(({ records }, file) => {
    const start = recordsBefore
    recordsBefore += records
    return `(${file}, ${start}, ${recordsBefore})`
  })
  const { rendered } = typeRow(field.type)
  const rows = await db.rows(
    `select ${rendered('min(value)')}, ${rendered('max(value)')}, count(value), count(*), file from
      (select f${index} as value, before + file_row_number as record from ${stagedSql(staged.files)} where is_good) as rows
      asof join (select * from (values ${fileRanges.join(', ')}) as files(file, start, past) where past > start) as files
        on rows.record >= files.start
      group by file, files.start order by ${orderTerm({ field: 'min(value)', direction: directionOf(conversion) }, (name) => name)}, file`,
  )
  const partitions: { value: string | null; rows: number; files: number[] }[] = []
  for (const [min, max, filled, rowCount, file] of rows) {
    const value = min === null ? null : String(min)
    if (min !== max || (numberOf(filled) !== 0 && numberOf(filled) !== numberOf(rowCount))) {
      const values = hidesRows(table) ? '' : `: ${String(min)} and ${min === max ? 'none' : String(max)}`
      throw new TableFailure(
        `${read.files[numberOf(file)]?.name ?? ''} has several values of "${field.name}"${values}; ` +
          'the table is partitioned by it, so all rows of a file need the same value',
      )
    }
    const last = partitions.at(-1)
    if (last !== undefined && last.value === value) {
      last.rows += numberOf(rowCount)
      last.files.push(numberOf(file))
    } else partitions.push({ value, rows: numberOf(rowCount), files: [numberOf(file)] })
  }
  return partitions
}

function directionOf({ table }: Pick<Conversion, 'table'>): 'asc' | 'desc' {
  return table.order[0]?.direction ?? 'asc'
}
