import { typeRow } from '../../../core/catalog/field-types.ts'
import { TableFailure } from '../../base/rejects.ts'
import type { Batch } from '../../source/batches.ts'
import { requireSame } from '../proof.ts'
import { type Staged, type Conversion, numberOf, stagedSql } from '../conversion.ts'
import { expectedChecksum, plainSql } from './plain.ts'

/**
 * Checks that DuckDB and our scanner read the same number of rows, and of values and bytes per column.
 * Returns totals of the file.
 */
export async function reconcileStaged(conversion: Conversion, batch: Batch, file: string): Promise<Staged> {
  const extremesSql = conversion.fields.map(({ field }, index) =>
    typeRow(field.type).isNarrowed ? `min(f${index}), max(f${index})` : 'null, null',
  )
  const [[rows, checksum, goodRows, hashSum, ...extremes] = []] = await conversion.db
    .rows(`select count(*), coalesce(sum(checksum), 0)::varchar,
    count_if(is_good), coalesce(sum(case when is_good then row_hash end), 0)::varchar, ${extremesSql.join(', ')}
    from ${stagedSql([file])}`)
  await requireSameReading(conversion, batch, rows, checksum)
  return {
    files: [file],
    goodRows: numberOf(goodRows),
    badRows: batch.records - numberOf(goodRows),
    rowHash: BigInt(String(hashSum)),
    bits: conversion.fields.map(({ field }, index) =>
      typeRow(field.type).isNarrowed
        ? Math.max(...extremes.slice(2 * index, 2 * index + 2).map(bitsOf))
        : null,
    ),
  }
}

function bitsOf(value: unknown): number {
  const number = typeof value === 'bigint' ? value : BigInt(Number(value))
  return (number < 0n ? -1n - number : number).toString(2).length
}

/**
 * @param rows that DuckDB's reader saw
 * @param checksum of their values
 * @throws TableFailure naming the column on which the readers disagree
 */
export async function requireSameReading(
  conversion: Conversion,
  batch: Batch,
  rows: unknown,
  checksum: unknown,
): Promise<void> {
  requireSame('rows', batch.records, rows)
  if (String(expectedChecksum(batch, conversion.weights)) !== checksum) await nameColumn(conversion, batch)
}

async function nameColumn(conversion: Conversion, batch: Batch): Promise<never> {
  const { header, columns } = batch
  const readColumns = [...new Set(conversion.weights.map(({ column }) => column))]
  const facts = readColumns.map((column) => `count(c${column}), coalesce(sum(strlen(c${column})), 0)`)
  const counts =
    (await conversion.db.rows(`select ${facts.join(', ')} from ${plainSql(conversion, batch)}`))[0]?.map(
      numberOf,
    ) ?? []
  for (const [place, column] of readColumns.entries()) {
    requireSame(`values of "${header[column] ?? ''}"`, columns[column]?.filled, counts[2 * place])
    requireSame(`bytes of "${header[column] ?? ''}"`, columns[column]?.bytes, counts[2 * place + 1])
  }
  throw new TableFailure('verification failed: two readers of the source disagree; nothing was published')
}
