import { scratchFormat } from '../parquet.ts'
import { rm } from 'node:fs/promises'
import { quotedText } from '../../../core/sql.ts'
import type { Batch } from '../../source/batches.ts'
import { fieldsAtOnce, type Conversion } from '../conversion.ts'
import { constantSql, plainSql, rowChecksumSql } from './plain.ts'
import { valuesSql } from './values.ts'

/**
 * Casts a batch into a scratch Parquet file, and returns its path. Wide tables take several statements, to bound
 * memory. Columns of the file:
 * - f0, f1, ...: values of the fields;
 * - `is_good`: whether all texts were valid;
 * - `checksum`: weighted count of values and bytes, to compare with that of the source;
 * - `row_hash`: hash of the values before they are written, to compare with the published file;
 * - `before`: number of records before the batch.
 */
export async function stage(conversion: Conversion, batch: Batch): Promise<string> {
  const file = `${batch.pieces[0]?.file ?? ''}.parquet`
  const groups = Array.from({ length: Math.ceil(conversion.fields.length / fieldsAtOnce) }, (_, group) =>
    castSql(conversion, batch, group),
  )
  const parts = groups.map((sql, group) => ({ sql, file: `${file}.${group}` }))
  // Every file has the rows in order, so a positional join completes each row.
  if (parts.length > 1)
    for (const part of parts)
      await conversion.db.rows(`copy (${part.sql}) to ${quotedText(part.file)} ${scratchFormat(conversion)}`)
  const from =
    parts.length > 1
      ? parts.map((part) => `read_parquet(${quotedText(part.file)})`).join(' positional join ')
      : `(${groups.join('')})`
  const names = conversion.fields.map((_, index) => `f${index}`).join(', ')
  await conversion.db.rows(`copy (
    select ${names}, ${groups.map((_, group) => `is_good_${group}`).join(' and ')} as is_good,
      ${groups.map((_, group) => `checksum_${group}`).join(' + ')} as checksum,
      hash(${names}) as row_hash, ${batch.before}::bigint as before from ${from})
    to ${quotedText(file)} ${scratchFormat(conversion)}`)
  if (parts.length > 1) await Promise.all(parts.map((part) => rm(part.file)))
  return file
}

function castSql(conversion: Conversion, batch: Batch, group: number): string {
  const first = group * fieldsAtOnce
  const batchFields = conversion.fields.slice(first, first + fieldsAtOnce)
  const columns = new Set(batchFields.map(({ column }) => column))
  const slice = {
    ...conversion,
    fields: batchFields,
    weights: conversion.weights.filter(({ column }) => columns.has(column)),
  }
  const { fields, from } = valuesSql(batchFields, plainSql(slice, batch), constantSql(batch))
  const values = fields.map(({ value }, index) => `${value} as f${first + index}`)
  const areGood = fields.map(({ isGood }) => isGood).join(' and ')
  return `select ${values.join(', ')}, ${areGood} as is_good_${group}, ${rowChecksumSql(slice)} as checksum_${group} from ${from}`
}
