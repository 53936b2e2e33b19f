import { detailedRejectsMax } from '../../base/rejects.ts'
import type { Batch } from '../../source/batches.ts'
import { type Conversion, numberOf } from '../conversion.ts'
import { constantSql, plainSql } from './plain.ts'
import { valuesSql } from './values.ts'

export interface BadValue {
  /** Index in the source, from 0; rejected rows do not count. */
  readonly record: number
  readonly field: string
  readonly text: string
  readonly reason: string
}

/** Number of bad values of a batch, and the first ones in order. */
export async function badValues(
  conversion: Conversion,
  batch: Batch,
  valuesMax = detailedRejectsMax,
): Promise<{ count: number; values: readonly BadValue[] }> {
  const { fields, from } = valuesSql(conversion.fields, plainSql(conversion, batch), constantSql(batch))
  const counts = fields.map(({ isGood }) => `count_if(not ${isGood})`)
  const totals =
    (await conversion.db.rows(`select ${counts.join(', ')} from ${from}`))[0]?.map(numberOf) ?? []
  const count = totals.reduce((sum, bad) => sum + bad, 0)
  if (valuesMax === 0) return { count, values: [] }
  const badFields = fields.flatMap(({ text, isGood }, index) =>
    totals[index] === 0 ? [] : [{ index, text, isGood }],
  )
  const orderedSql = valuesSql(conversion.fields, plainSql(conversion, batch, true), constantSql(batch)).from
  const rows = await conversion.db
    .rows(`select record, field, text from ${textsSql(batch, badFields, orderedSql)}
    where not is_good order by record, field limit ${valuesMax}`)
  const values = rows.map(([record, field, text]) => ({
    record: numberOf(record),
    field: conversion.fields[numberOf(field)]?.field.name ?? '',
    text: String(text),
    reason: `is not ${fields[numberOf(field)]?.expects ?? ''}`,
  }))
  return { count, values }
}

/**
 * SQL: a row per cell, with the columns `record`, `field` (an index), `text` and `is_good`.
 * @param from SQL of the rows of a batch, in order
 */
export function textsSql(
  { before }: Batch,
  fields: readonly { readonly index: number; readonly text: string; readonly isGood: string }[],
  from: string,
): string {
  const [indexes, texts, areGood] = [
    fields.map(({ index }) => index),
    fields.map(({ text }) => text),
    fields.map(({ isGood }) => isGood),
  ].map((items) => `unnest([${items.join(', ')}])`)
  return `(select record, ${indexes} as field, ${texts} as text, ${areGood} as is_good
    from (select *, ${before} + row_number() over () - 1 as record from ${from}))`
}
