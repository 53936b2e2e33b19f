import type { DuePart, WrittenPart } from '../conversion.ts'
import path from 'node:path'
import { constants } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import type { Table } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { duckdbVersion } from '../../../core/duckdb/database.ts'
import { type GzipSection, sectionStart } from '../../../core/warehouse/format/gzip-sections.ts'
import { fileNames, layout } from '../../../core/warehouse/layout.ts'
import type { Manifest, Part, Partition, StoredFile } from '../../../core/warehouse/manifest.ts'
import { readReport } from '../../../core/warehouse/report.ts'
import type { PinnedFile, Store } from '../../../core/warehouse/stores/store.ts'
import type { SortedPartition } from './partitions.ts'

/**
 * Incremental refresh: only files of changed partitions are read, sorted, verified and compressed. The other
 * parts are the previous ones, identical to those of a full ingest.
 */

interface ReusablePartition {
  readonly partition: Partition
  readonly parts: readonly ReusablePart[]
}

interface ReusablePart {
  readonly part: Part
  readonly words: StoredFile | null
  readonly rowStore: StoredFile | null
  readonly section: GzipSection
  readonly sectionAt: number
}

export interface Reusable {
  readonly before: Manifest
  readonly partitions: readonly ReusablePartition[]
  readonly filesToRead: readonly number[]
}

interface KnownFile {
  readonly name: string
  readonly sha256: string
}

/**
 * Returns the partitions to reuse from the previous snapshot; null if everything must be read.
 * @param before manifest of an intact snapshot with the current definition
 */
export async function findReusable(
  store: Store,
  table: Table,
  before: Manifest,
  files: readonly KnownFile[],
): Promise<Reusable | null> {
  const { partitions, parts, sources, tools } = before
  if (table.partition === null || partitions === undefined) return null
  // With another version of DuckDB or Node, a full ingest may write other bytes than those reused.
  if (tools['duckdb'] !== duckdbVersion || tools['node'] !== process.version) return null
  if (!areUnique(files) || !areUnique(sources)) return null
  // With several patterns, it is unknown which one gave a reused file its constants.
  const { files: patterns, fromName } = table.source
  const hasFileConstants = fromName !== null || patterns?.some((file) => file.constants.size > 0) === true
  if (hasFileConstants && (patterns?.length ?? 0) > 1) return null
  const report = await readReport(store, table, before)
  // Drift was accepted for one ingest only, so all files are read again.
  if (report === null || report.accepted_drift.length > 0) return null
  const sections = report.download_sections
  if (sections?.length !== parts.length + 1) return null
  const places = new Map(files.map(({ name, sha256 }, place) => [`${name} ${sha256}`, place]))
  const unchangedPartitions: ReusablePartition[] = []
  const partGroups = partsByPartition(before, sections)
  for (const [index, partition] of partitions.entries()) {
    const currentPlaces = partition.sources.map((place) => {
      const source = sources[place]
      return source === undefined ? -1 : (places.get(`${source.name} ${source.sha256}`) ?? -1)
    })
    // Rows with equal keys follow the order of their files.
    const isUnchanged = currentPlaces.every((place, nth) => place > (currentPlaces[nth - 1] ?? -1))
    if (isUnchanged)
      unchangedPartitions.push({
        partition: { ...partition, sources: currentPlaces },
        parts: partGroups[index] ?? [],
      })
  }
  return nullIfNoneReusable({ before, partitions: unchangedPartitions, filesToRead: [] }, files.length)
}

/** Removes partitions whose values also occur in files that were read; null if none remains. */
export function withoutPartitions(
  reusable: Reusable,
  values: ReadonlySet<string | null>,
  files: number,
): Reusable | null {
  const partitions = reusable.partitions.filter(({ partition }) => !values.has(partition.value))
  return nullIfNoneReusable({ ...reusable, partitions }, files)
}

/** Drops last partitions until a file is read, for a check of its header; null if none remains. */
function nullIfNoneReusable(reusable: Reusable, files: number): Reusable | null {
  const { partitions } = reusable
  const sourceNames = new Set(partitions.flatMap(({ partition }) => partition.sources))
  const newFiles = Array.from({ length: files }, (_, place) => place).filter(
    (place) => !sourceNames.has(place),
  )
  if (newFiles.length > 0) return partitions.length === 0 ? null : { ...reusable, filesToRead: newFiles }
  return nullIfNoneReusable({ ...reusable, partitions: partitions.slice(0, -1) }, files)
}

function areUnique(files: readonly { readonly name: string }[]): boolean {
  return new Set(files.map(({ name }) => name)).size === files.length
}

/** The first section of the gzip file is the CSV header. */
function partsByPartition(
  { partitions = [], parts, indexes = [], row_stores: rowStores = [] }: Manifest,
  sections: readonly GzipSection[],
): ReusablePart[][] {
  let [partIndex, sectionOffset] = [0, sectionStart(sections, 1)]
  return partitions.map(({ rows }) => {
    const ownParts: ReusablePart[] = []
    for (let rowsTaken = 0; rowsTaken < rows; partIndex += 1) {
      const [part, section] = [parts[partIndex], sections[partIndex + 1]]
      if (part === undefined || section === undefined)
        throw new Error('the parts do not add up to their partitions')
      const number = partIndex
      const words = indexes.find((index) => index.part === number) ?? null
      ownParts.push({ part, words, rowStore: rowStores[number] ?? null, section, sectionAt: sectionOffset })
      rowsTaken += part.rows
      sectionOffset += section[0]
    }
    return ownParts
  })
}

interface ReusedPart extends WrittenPart {
  readonly reused: ReusablePart
}
type PlannedPart = DuePart | ReusedPart

export const isReused = (part: PlannedPart): part is ReusedPart => 'reused' in part

type PlannedPartition = ReusablePartition['partition'] | SortedPartition

export interface Planned {
  readonly partitions: readonly PlannedPartition[]
  readonly parts: readonly PlannedPart[]
}

/**
 * Merges reused and read partitions, and divides their rows into parts of one partition each.
 * @param newPartitions in the order of the table
 */
export function planParts(
  table: Table,
  reusable: Reusable | null,
  newPartitions: readonly SortedPartition[],
  partRowsMax: number,
): Planned {
  const isAfter = comparatorOf(table)
  const partitions: PlannedPartition[] = []
  const parts: PlannedPart[] = []
  const pendingPartitions = [...(reusable?.partitions ?? [])]
  let [firstRow, sortedRow] = [0, 0]
  const nextFileName = (): string => fileNames.part(parts.length)
  const addPartition = ({ partition, parts: ownParts }: ReusablePartition): void => {
    partitions.push(partition)
    for (const previousPart of ownParts) {
      parts.push({ file: nextFileName(), firstRow, rows: previousPart.part.rows, reused: previousPart })
      firstRow += previousPart.part.rows
    }
  }
  for (const partition of newPartitions) {
    for (
      let next = pendingPartitions[0];
      next && isAfter(partition.value, next.partition.value);
      next = pendingPartitions[0]
    ) {
      addPartition(next)
      pendingPartitions.shift()
    }
    partitions.push(partition)
    for (let row = 0; row < partition.rows; row += partRowsMax) {
      const rows = Math.min(partRowsMax, partition.rows - row)
      parts.push({ file: nextFileName(), firstRow, rows, sortedRow })
      firstRow += rows
      sortedRow += rows
    }
  }
  for (const partition of pendingPartitions) addPartition(partition)
  return { partitions, parts }
}

function comparatorOf({ fields, order, partition }: Table): (a: string | null, b: string | null) => boolean {
  const field = fields.find(({ name }) => name === partition)
  if (field === undefined) return () => false
  const { compare } = typeRow(field.type)
  const sign = order[0]?.direction === 'desc' ? -1 : 1
  return (a, b) => {
    if (a === null || b === null) return a === null && b !== null
    return sign * compare(a, b) > 0
  }
}

export interface ReusedFile extends StoredFile {
  readonly key: string
}

/** Returns files to copy into the folder of a new snapshot, by their names there. */
export function reusedFiles(
  table: Table,
  reusable: Reusable,
  parts: readonly PlannedPart[],
): Map<string, ReusedFile> {
  const files = new Map<string, ReusedFile>()
  const folder = layout.snapshot(table, reusable.before.snapshot)
  for (const [number, part] of parts.entries()) {
    if (!isReused(part)) continue
    const { words, rowStore, part: partFile } = part.reused
    const addFile = (name: string, { file, bytes, sha256, sha512 }: StoredFile): void => {
      files.set(name, { file: name, bytes, sha256, sha512, key: `${folder}/${file}` })
    }
    addFile(part.file, partFile)
    if (words !== null) addFile(fileNames.wordIndex(number), words)
    if (rowStore !== null) addFile(fileNames.rowStore(number), rowStore)
  }
  return files
}

export function previousDownload(table: Table, { before }: Reusable): PinnedFile {
  const name = fileNames.download(table)
  const storedFile = before.files.find(({ file }) => file === name)
  if (storedFile === undefined) throw new Error(`the snapshot ${before.snapshot} has no ${name}`)
  return {
    key: `${layout.snapshot(table, before.snapshot)}/${name}`,
    bytes: storedFile.bytes,
    sha256: storedFile.sha256,
  }
}

export function pinnedFiles(table: Table, reusable: Reusable): PinnedFile[] {
  const { snapshot } = reusable.before
  const folder = layout.snapshot(table, snapshot)
  const files = reusable.partitions.flatMap(({ parts }) =>
    parts.flatMap(({ part, words, rowStore }) => [part, words, rowStore].flatMap((file) => file ?? [])),
  )
  return [
    previousDownload(table, reusable),
    ...files.map(({ file, bytes, sha256 }) => ({ key: `${folder}/${file}`, bytes, sha256 })),
  ]
}

/**
 * Copies files into a local folder, as clones if possible. Hard links would change the ctime of served files
 * and share damage.
 */
export async function copyReused(store: Store, files: Iterable<ReusedFile>, folder: string): Promise<void> {
  for (const { key, file } of files) {
    const target = path.join(folder, file)
    await copyFile(store.place(key), target, constants.COPYFILE_FICLONE)
    // Syncs now, so that publishing has little left to flush.
    const handle = await open(target, 'r+')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}
