import { parquetFormat, scratchFormat } from '../parquet.ts'
import path from 'node:path'
import { quotedName, quotedText } from '../../../core/sql.ts'
import { rowGroupRows } from '../../../core/warehouse/layout.ts'
import { orderTerms } from '../../../core/warehouse/manifest.ts'
import type { Progress } from '../../base/progress.ts'
import { type Staged, type Work, sortedFile, sortedRowsSql, stagedSql } from '../work.ts'

/** Integer types by their bits without the sign. */
const narrowTypes = [
  [7, 'TINYINT'],
  [15, 'SMALLINT'],
  [31, 'INTEGER'],
  [63, 'BIGINT'],
] as const

/**
 * Sorts the good rows, with their hashes, by the declared order, then by their position in the source.
 * Integers are narrowed for the sort, which makes it a fifth cheaper.
 */
export async function sort(work: Work, { files, bits }: Staged): Promise<void> {
  const values = work.fields.map((_, index) => {
    const narrow = narrowTypes.find(([typeBits]) => typeBits >= (bits[index] ?? Infinity))
    return narrow === undefined ? `f${index}` : `f${index}::${narrow[1]} as f${index}`
  })
  const keys = orderTerms(
    work.table,
    (name) => `f${work.fields.findIndex(({ field }) => field.name === name)}`,
  )
  await work.db.rows(`copy (select ${values.join(', ')}, row_hash from ${stagedSql(files)} where is_good
    order by ${[...keys, 'before + file_row_number asc'].join(', ')})
    to ${quotedText(sortedFile(work.scratch))} ${scratchFormat(work)}`)
}

export interface WrittenPart {
  readonly file: string
  readonly firstRow: number
  readonly rows: number
}

/** A part written from the rows sorted here, unlike a reused one. */
export interface DuePart extends WrittenPart {
  /** Position of its first row among the rows sorted here. */
  readonly sortedRow: number
}

/** Writes sorted rows as parts into a folder. */
export async function writeParts(
  work: Work,
  folder: string,
  parts: readonly DuePart[],
  progress: Progress,
): Promise<void> {
  const columns = work.fields.map(({ field }, index) => `f${index} as ${quotedName(field.name)}`)
  const due = parts.reduce((sum, { rows }) => sum + rows, 0)
  // A partition may begin inside a row group of the sorted file: without sorting, DuckDB would write
  // incomplete row groups.
  const inOrder = work.table.partition === null ? '' : 'order by file_row_number'
  let writtenRows = 0
  for (const { file, sortedRow, rows } of parts) {
    await work.db
      .rows(`copy (select ${columns.join(', ')} from ${sortedRowsSql(work, sortedRow, rows)} ${inOrder})
      to ${quotedText(path.join(folder, file))} ${parquetFormat(work, 'zstd', rowGroupRows)}`)
    writtenRows += rows
    progress.advance({ fraction: writtenRows / due, rows: writtenRows })
  }
}
