import type { WrittenPart } from '../convert/conversion.ts'
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import path from 'node:path'
import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import { duckdbVersion } from '../../core/duckdb/database.ts'
import { chunkRows } from '../../core/warehouse/format/row-store.ts'
import { sumsOf, type Sums } from '../../core/warehouse/hash.ts'
import { fileNames, type SnapshotId } from '../../core/warehouse/layout.ts'
import {
  manifestFormat,
  masksOf,
  orderTerms,
  storedFields,
  unitsOf,
  type Changes,
  type Index,
  type Manifest,
  type Order,
  type Part,
  type PiecewiseFile,
  type RowStoreFile,
  type Source,
  type StoredFile,
} from '../../core/warehouse/manifest.ts'
import type { ServerFiles } from '../convert/indexes/indexes.ts'
import type { ReusedFile } from '../convert/parts/reused-partitions.ts'

/**
 * Hash of everything that determines the rows, except the source. If it changes, unchanged sources are
 * converted again.
 * @param converter see `converterVersion`
 */
export function definitionOf(table: Table, partRows: number, converter: number): string {
  const { source, fields, order, rejectsMax, indexes, search, partition, engine, hasRowStore, orders } = table
  const { expectations } = table
  const { files, checksums: _checksums, reading: _reading, fromName, ...form } = source
  const shape = {
    format: manifestFormat,
    converter,
    partRows,
    fields: storedFields(table),
    readings: fields.map(({ reading: { timezone, ...reading }, mask }) => ({
      ...reading,
      timezone: timezone ?? 'UTC',
      mask,
    })),
    form,
    // Paths matter only if they fill fields; files are identified by their bytes.
    fromName,
    paths: fromName === null ? null : files?.map(({ path: file }) => file),
    constants: files?.some(({ constants }) => constants.size > 0) === true ? files : null,
    order,
    rejectsMax,
    indexes,
    search,
    partition,
    ...(engine !== 'duckdb' && { engine, filters: table.filters }),
    hasRowStore,
    orders,
    ...(expectations.length > 0 && { expectations }),
  }
  const text = JSON.stringify(shape, (_key, value: unknown) =>
    value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value,
  )
  return createHash('sha256').update(text).digest('hex')
}

/** Definitions for all versions of the converter up to this one. */
export function definitionsUntil(table: Table, partRows: number, converter: number): string[] {
  return Array.from({ length: converter }, (_, before) => definitionOf(table, partRows, before + 1))
}

interface SnapshotContent extends Pick<Manifest, 'partitions' | 'header'> {
  readonly dataset: Dataset
  readonly table: Table
  readonly sources: readonly Source[]
  readonly rows: number
  readonly textBytes: number
  readonly definition: string
  readonly importDate: Date
  readonly before: Manifest | null
  readonly previous: SnapshotId | null
  readonly reusedFiles: ReadonlyMap<string, ReusedFile>
  readonly isLoaded: boolean
  readonly download: Sums
  readonly changes: readonly Changes[] | null
}

/** Returns an id, made of the time and a hash of the content, and the parts with checksums. */
export async function nameSnapshot(
  { sources, definition, importDate, reusedFiles }: SnapshotContent,
  folder: string,
  writtenParts: readonly WrittenPart[],
): Promise<{ snapshot: SnapshotId; parts: Part[] }> {
  const parts: Part[] = []
  for (const part of writtenParts)
    parts.push({ ...part, ...(await sumsOfFile(folder, part.file, reusedFiles)) })
  const content = [
    ...sources.map(({ sha256 }) => sha256),
    definition,
    ...parts.map(({ sha256 }) => sha256),
  ].join('\n')
  const time = importDate.toISOString().replaceAll(/[-:]|\.\d+Z/g, '')
  return { snapshot: `${time}Z-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`, parts }
}

export async function createManifest(
  content: SnapshotContent,
  { snapshot, parts }: { snapshot: SnapshotId; parts: Part[] },
  folder: string,
  serverFiles: ServerFiles,
): Promise<Manifest> {
  const { dataset, table, sources, rows, textBytes, definition, importDate, before, previous } = content
  const { reusedFiles, partitions, header, isLoaded, download, changes } = content
  const report = await sumsOf(path.join(folder, fileNames.report))
  const indexes: Index[] = []
  for (const index of serverFiles.indexes) {
    const sums = await sumsOfFile(folder, index.file, reusedFiles)
    indexes.push({ ...index, ...sums, fields: [...index.fields] })
  }
  const changeFiles: StoredFile[] = []
  for (const { file } of changes ?? []) changeFiles.push({ file, ...(await sumsOf(path.join(folder, file))) })
  return {
    format: manifestFormat,
    dataset: table.dataset,
    table: table.name,
    snapshot,
    previous,
    rows,
    textBytes,
    parts,
    files: [
      { file: fileNames.download(table), ...download },
      { file: fileNames.report, ...report },
      ...changeFiles,
    ],
    ...(isLoaded && { clickhouse: true as const }),
    ...(partitions !== undefined && { partitions }),
    ...(header !== undefined && { header }),
    ...(indexes.length > 0 && { indexes }),
    ...(await serverFileEntries(serverFiles, folder, reusedFiles)),
    ...(changes !== null && { changes: [...changes] }),
    fields: storedFields(table),
    ...(Object.keys(unitsOf(table)).length > 0 && { units: unitsOf(table) }),
    ...(Object.keys(masksOf(table)).length > 0 && { masks: masksOf(table) }),
    order: orderTerms(table),
    import_date: importDate.toISOString(),
    collected_at: dataset.collectedAt,
    ...changedAt(before, sources, importDate),
    ...(before !== null && {
      before: {
        rows: before.rows,
        fields: before.fields,
        ...(before.units !== undefined && { units: before.units }),
      },
    }),
    sources: [...sources],
    definition,
    tools: { node: process.version, duckdb: duckdbVersion },
  }
}

async function serverFileEntries(
  { dictionary, codes, rowStores, orders }: ServerFiles,
  folder: string,
  reusedByName: ReadonlyMap<string, ReusedFile>,
): Promise<Pick<Manifest, 'dictionary' | 'codes' | 'row_stores' | 'orders'>> {
  const entryOf = async (file: string): Promise<PiecewiseFile> => ({
    file,
    ...(await sumsOfFile(folder, file, reusedByName)),
    container: 2,
    directory_sum: await directorySum(path.join(folder, file)),
  })
  const stores: RowStoreFile[] = []
  for (const file of rowStores ?? []) stores.push({ ...(await entryOf(file)), chunk_rows: chunkRows })
  const orderEntries: Order[] = []
  for (const [number, order] of orders.entries()) {
    orderEntries.push({
      keys: order.keys.map((key) => ({ ...key })),
      positions: await entryOf(fileNames.orderPositions(number)),
      ...(order.codes !== null && {
        codes: { ...(await entryOf(fileNames.orderCodes(number))), fields: [...order.codes] },
      }),
    })
  }
  return {
    ...(dictionary !== null && {
      dictionary: {
        file: fileNames.dictionary,
        ...(await sumsOf(path.join(folder, fileNames.dictionary))),
        fields: [...dictionary],
      },
    }),
    ...(codes !== null && { codes: { ...(await entryOf(fileNames.codes)), fields: [...codes] } }),
    ...(rowStores !== null && { row_stores: stores }),
    ...(orderEntries.length > 0 && { orders: orderEntries }),
  }
}

async function directorySum(file: string): Promise<number> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const bytes = Buffer.alloc(4)
    await handle.read(bytes, 0, 4, size - 4)
    return bytes.readUInt32LE()
  } finally {
    await handle.close()
  }
}

async function sumsOfFile(
  folder: string,
  file: string,
  reusedFiles: ReadonlyMap<string, ReusedFile>,
): Promise<Omit<StoredFile, 'file'>> {
  const reusedSums = reusedFiles.get(file)
  if (reusedSums === undefined) return sumsOf(path.join(folder, file))
  const { bytes, sha256, sha512 } = reusedSums
  return { bytes, sha256, sha512 }
}

/**
 * When an ingest first read the present bytes, as a property of the manifest. Empty for a first snapshot: its
 * import date is that time.
 */
function changedAt(
  before: Manifest | null,
  sources: readonly Source[],
  now: Date,
): Pick<Manifest, 'changed_at'> {
  if (before === null) return {}
  if (sumsIn(before.sources) !== sumsIn(sources)) return { changed_at: now.toISOString() }
  return { changed_at: before.changed_at ?? before.import_date }
}

function sumsIn(sources: readonly Source[]): string {
  return sources.map(({ sha256 }) => sha256).join()
}
