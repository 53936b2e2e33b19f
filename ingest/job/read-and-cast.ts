import { createHash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { hidesRows } from '../../core/catalog/catalog.ts'
import type { Partition } from '../../core/warehouse/manifest.ts'
import { FileUnavailable } from '../../core/warehouse/stores/store.ts'
import { Intake } from '../convert/cast/intake.ts'
import { partitionsIn, type SortedPartition } from '../convert/parts/partitions.ts'
import { pinnedFiles, withoutPartitions, type Reusable } from '../convert/parts/reused-partitions.ts'
import { detailedRejectsMax, TableFailure, type Reject } from '../base/rejects.ts'
import type { Batch } from '../source/batches.ts'
import { readSource, type ReadSource } from '../source/read.ts'
import type { PlacedFile } from '../source/member.ts'
import type { Job, Stopwatch } from './job.ts'

/** Reuses nothing if the files cannot be fetched. */
export async function pinReusable({
  store,
  table,
  reusable,
}: Job): Promise<{ reusable: Reusable | null; release: () => void }> {
  try {
    return { reusable, release: await store.pin(reusable === null ? [] : pinnedFiles(table, reusable)) }
  } catch (error) {
    if (!(error instanceof FileUnavailable)) throw error
    return { reusable: null, release: () => undefined }
  }
}

export interface CastSource {
  readonly reusable: Reusable | null
  readonly intake: Intake
  readonly read: ReadSource
  readonly rejects: readonly Reject[]
  readonly partitions: readonly SortedPartition[]
}

/**
 * Reads and casts partitions that are not reused. Starts again with less reuse if a file has another header,
 * or rows of a reusable partition.
 */
export async function readAndCast(
  job: Job,
  initialReusable: Reusable | null,
  steps: Stopwatch,
): Promise<CastSource> {
  const { table, files, scratch, db, progress, acceptsDrift, limits } = job
  let reusable = initialReusable
  for (let round = 0; ; round += 1) {
    const folder = path.join(scratch, `read-${round}`)
    await mkdir(folder)
    const missingFieldsByPartition = reusable?.partitions.map(({ partition }) => partition.lacks) ?? []
    const isInReusedPartition = (name: string): boolean =>
      missingFieldsByPartition.some((missingNames) => !missingNames.includes(name))
    const intake = new Intake({ table, db, scratch, acceptsDrift, hasElsewhere: isInReusedPartition })
    const taker = { folder, bytes: job.batchBytes, take: (batch: Batch) => intake.convert(batch) }
    const indexesToRead = reusable === null ? [...files.keys()] : reusable.filesToRead
    const filesToRead = indexesToRead.flatMap((place) => files[place] ?? [])
    const read = await steps.time(
      'reading',
      () => readSource(filesToRead, { table, progress, limits, taker }),
      { reportsProgress: true },
    )
    const rejects = await requireFewRejects(job, intake, read, filesToRead, reusable)
    const { staged } = intake
    if (table.partition === null)
      return {
        reusable,
        intake,
        read,
        rejects,
        partitions: [{ value: null, rows: staged.goodRows, files: [] }],
      }
    const partitions = await partitionsIn(intake.matched.conversion, staged, read)
    if (reusable === null) return { reusable, intake, read, rejects, partitions }
    const valuesRead = new Set(partitions.map(({ value }) => value))
    const hasRowsOfReused = reusable.partitions.some(({ partition }) => valuesRead.has(partition.value))
    const hasSameHeader = table.source.unionByName || headerOf(read) === reusable.before.header
    if (hasSameHeader && !hasRowsOfReused) return { reusable, intake, read, rejects, partitions }
    reusable = hasSameHeader ? withoutPartitions(reusable, valuesRead, files.length) : null
    await rm(folder, { recursive: true })
  }
}

/** Hash of the header that all files share, if columns are not matched by name. */
export function headerOf({ headers }: ReadSource): string {
  return createHash('sha256').update(JSON.stringify(headers[0]?.header)).digest('hex')
}

const fewShare = 0.1

/**
 * Lists rejected rows with their lines.
 * @throws TableFailure if they are more than the catalog allows
 */
async function requireFewRejects(
  job: Job,
  { staged: { badRows }, badCount, badValues: values }: Intake,
  read: ReadSource,
  files: readonly PlacedFile[],
  reusable: Reusable | null,
): Promise<readonly Reject[]> {
  if (badRows === 0 && read.counts.rejectedRows === 0) return []
  const { table } = job
  const locate = await locateRecords(job, files, new Set(values.map(({ record }) => record)))
  const badRejects = values.map(({ record, field, text, reason }): Reject => {
    return { ...locate(record), field, text: hidesRows(table) ? null : text, reason }
  })
  const rejects = [...read.rejects, ...badRejects].slice(0, detailedRejectsMax)
  const reusedRejectedRows =
    reusable?.partitions.reduce((sum, { partition }) => sum + rejectedRowsIn(partition), 0) ?? 0
  const rows = badRows + read.counts.rejectedRows + reusedRejectedRows
  if (rows <= table.rejectsMax) return rejects
  const allowed = table.rejectsMax === 0 ? '' : `, and max_rejects allows only ${table.rejectsMax}`
  const phrase = rows === 1 ? 'a row does' : `${rows.toLocaleString('en')} rows do`
  throw new TableFailure(`${phrase} not match the catalog${allowed}; nothing was published`, rejects, {
    count: badCount + read.counts.rejectedRows,
    remedy: `correct these lines of the source, or the type and spelling of the fields in the catalog${rows <= fewShare * read.counts.records ? '; `max_rejects` of the table would leave these rows out' : ''}`,
  })
}

/**
 * Reads files again; the returned function tells the first line of each record, and its file if there are
 * several.
 */
export async function locateRecords(
  { files: allFiles, table, progress, limits }: Job,
  files: readonly PlacedFile[],
  records: ReadonlySet<number>,
): Promise<(record: number) => Pick<Reject, 'file' | 'line'>> {
  const { lines } =
    records.size === 0
      ? { lines: new Map<number, { file: string; line: number }>() }
      : await readSource(files, { table, progress, limits, taker: null, locate: records })
  return (record) => {
    const { file = '', line = 0 } = lines.get(record) ?? {}
    return { ...(allFiles.length > 1 && { file }), line }
  }
}

const rejectedRowsIn = ({ records, rejectedRows, rows }: Partition): number => records + rejectedRows - rows
