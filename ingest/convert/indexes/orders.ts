import { scratchGroupRows } from '../parquet.ts'
import path from 'node:path'
import { mkdir, rm } from 'node:fs/promises'
import type { Table } from '../../../core/catalog/catalog.ts'
import { orderTerm, quotedText } from '../../../core/sql.ts'
import { sectionRows } from '../../../core/warehouse/format/codes.ts'
import { chunkPositions, positionBytes, positionIn } from '../../../core/warehouse/format/positions.ts'
import type { ChunkFile } from '../../../core/warehouse/format/chunk-file.ts'
import { fileNames } from '../../../core/warehouse/layout.ts'
import { countMisplaced, requireSame, sumOf } from '../proof.ts'
import { type Conversion, numberOf, sortedFile, sortedSql } from '../conversion.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { writeCodes } from './codes.ts'
import type { CodedField } from './dictionary.ts'

type DeclaredOrder = Table['orders'][number]

/** Order with the fields whose codes are stored in it. */
export interface WrittenOrder {
  readonly keys: DeclaredOrder['keys']
  readonly codes: readonly string[] | null
}

const sliceRows = 16 * sectionRows

/**
 * Writes the positions of the rows in each declared order, and the codes of `codedFields`. Adds an order by
 * each field of `filters` that leads no other order.
 * @throws TableFailure if a verification fails
 */
export async function writeOrders(
  conversion: Conversion,
  folder: string,
  rows: number,
  codedFields: readonly CodedField[],
  filters: readonly string[],
): Promise<WrittenOrder[]> {
  const writtenOrders: WrittenOrder[] = []
  if (rows === 0) return writtenOrders
  const declaredOrders = conversion.table.orders.map((order) => ({ ...order, coded: codedFields }))
  const leadingFields = new Set(
    [conversion.table.order, ...conversion.table.orders.map(({ keys }) => keys)].map(([key]) => key?.field),
  )
  const filterOrders = filters
    .filter((name) => !leadingFields.has(name))
    .map((name) => ({ keys: [{ field: name, direction: 'asc' as const }], coded: [] }))
  for (const [number, order] of [...declaredOrders, ...filterOrders].entries()) {
    const sortedConversion = await sortInto(
      conversion,
      path.join(conversion.scratch, `order-${number}`),
      order,
      order.coded,
    )
    await writePositions(sortedConversion, path.join(folder, fileNames.orderPositions(number)), rows)
    await writeCodes(sortedConversion, path.join(folder, fileNames.orderCodes(number)), rows, order.coded)
    await rm(sortedConversion.scratch, { recursive: true })
    const names = order.coded.map(({ name }) => name)
    writtenOrders.push({ keys: order.keys, codes: names.length === 0 ? null : names })
  }
  return writtenOrders
}

/** Sorts positions and fields into a scratch file and proves it. Returns a conversion that reads it. */
async function sortInto(
  conversion: Conversion,
  scratch: string,
  { keys }: DeclaredOrder,
  codedFields: readonly CodedField[],
): Promise<Conversion> {
  await mkdir(scratch)
  const terms = keys.map(({ field, direction }) => ({
    index: conversion.fields.findIndex((matchedField) => matchedField.field.name === field),
    direction,
  }))
  const fieldIndexes = [
    ...new Set([...terms.map(({ index }) => index), ...codedFields.map(({ index }) => index)]),
  ]
  const columns = fieldIndexes.map((index) => `f${index}`)
  const orderSql = terms.map(({ index, direction }) =>
    orderTerm({ field: `f${index}`, direction }, (name) => name),
  )
  await conversion.db
    .rows(`copy (select file_row_number::uinteger as position, ${columns.join(', ')} from ${sortedSql(conversion)}
    order by ${[...orderSql, 'position'].join(', ')})
    to ${quotedText(sortedFile(scratch))} (format parquet, codec lz4_raw, row_group_size ${scratchGroupRows})`)
  const sortedConversion: Conversion = {
    ...conversion,
    scratch,
    fieldIndexes: new Set(fieldIndexes),
    parts: null,
  }
  const sortKeys = terms.map(({ index, direction }) => ({ column: `f${index}`, direction }))
  const misplaced = await countMisplaced(conversion, sortedSql(sortedConversion), [
    ...sortKeys,
    { column: 'position', direction: 'asc' },
  ])
  requireSame('sort by a declared order', '0', String(misplaced))
  requireSame(
    'rows in a declared order',
    await sumOf(conversion, sortedSql(conversion), ['file_row_number::uinteger', ...columns].join(', ')),
    await sumOf(conversion, sortedSql(sortedConversion), ['position', ...columns].join(', ')),
  )
  return sortedConversion
}

async function writePositions(sortedConversion: Conversion, file: string, rows: number): Promise<void> {
  const writer = await ChunkWriter.open(file)
  try {
    for (let first = 0; first < rows; first += sliceRows) {
      const positions = await readPositions(sortedConversion, first, Math.min(sliceRows, rows - first))
      const bytes = Buffer.alloc(positions.length * positionBytes)
      for (const [row, position] of positions.entries()) bytes.writeUInt32LE(position, row * positionBytes)
      const chunkBytes = chunkPositions * positionBytes
      await writer.add(
        Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, chunk) =>
          bytes.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes),
        ),
      )
    }
    await provePositions(sortedConversion, await writer.finish())
  } finally {
    await writer.close()
  }
}

async function provePositions(sortedConversion: Conversion, file: ChunkFile): Promise<void> {
  const expected = await sortedConversion.db.rows(`select file_row_number // ${chunkPositions}, count(*),
    sum(position::bigint * (file_row_number % ${chunkPositions} + 1))::bigint
    from ${sortedSql(sortedConversion)} group by 1`)
  for (const [number, count, dueSum] of expected) {
    const chunk = file.read(numberOf(number))
    requireSame('number of row positions', count, chunk.length / positionBytes)
    let sum = 0
    for (let rank = 0; rank < numberOf(count); rank += 1) sum += positionIn(chunk, rank) * (rank + 1)
    requireSame('row positions', dueSum, sum)
  }
}

async function readPositions(
  sortedConversion: Conversion,
  first: number,
  rows: number,
): Promise<Uint32Array> {
  const [places = new Uint32Array(), positions = new Uint32Array()] = await sortedConversion.db.numberColumns(
    `select (file_row_number - ${first})::uinteger, position from ${sortedSql(sortedConversion)}
      where file_row_number between ${first} and ${first + rows - 1}`,
  )
  requireSame('number of row positions', String(rows), String(places.length))
  const orderedPositions = new Uint32Array(rows)
  for (const [index, place] of places.entries()) orderedPositions[place] = positions[index] ?? 0
  return orderedPositions
}
