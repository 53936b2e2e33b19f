import { createHash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { hidesText } from '../../core/catalog/catalog.ts'
import type { Partition } from '../../core/warehouse/manifest.ts'
import { FileUnavailable } from '../../core/warehouse/stores/store.ts'
import { Intake } from '../convert/intake.ts'
import { partitionsIn, type SortedPartition } from '../convert/partitions.ts'
import { pinnedFiles, without, type Reusable } from '../convert/reused-partitions.ts'
import { detailedRejectsMax, TableFailure, type Reject } from '../base/rejects.ts'
import type { Batch } from '../source/batches.ts'
import { readSource, type ReadSource } from '../source/read.ts'
import type { PlacedFile } from '../source/member.ts'
import type { Job, Stopwatch } from './job.ts'

/** Pins reusable files on this machine; if they cannot be fetched, nothing is reused, and everything is read. */
export async function pinReusable({
  store,
  table,
  kept,
}: Job): Promise<{ kept: Reusable | null; release: () => void }> {
  try {
    return { kept, release: await store.pin(kept === null ? [] : pinnedFiles(table, kept)) }
  } catch (error) {
    if (!(error instanceof FileUnavailable)) throw error
    return { kept: null, release: () => undefined }
  }
}

/** Result of reading and casting a source, with the partitions that are reused. */
export interface CastSource {
  readonly kept: Reusable | null
  readonly intake: Intake
  readonly read: ReadSource
  readonly rejects: readonly Reject[]
  /** Partitions that were read, in their order. */
  readonly partitions: readonly SortedPartition[]
}

/**
 * Reads and casts all partitions that are not reused. Starts again with less reuse if a file has another
 * header, or rows of a reusable partition.
 */
export async function readAndCast(job: Job, held: Reusable | null, steps: Stopwatch): Promise<CastSource> {
  const { table, files, scratch, db, progress, acceptsDrift, limits } = job
  let kept = held
  for (let round = 0; ; round += 1) {
    const folder = path.join(scratch, `read-${round}`)
    await mkdir(folder)
    const others = kept?.partitions.map(({ partition }) => partition.lacks) ?? []
    const hasElsewhere = (name: string): boolean => others.some((lacks) => !lacks.includes(name))
    const intake = new Intake({ table, db, scratch, acceptsDrift, hasElsewhere })
    const taker = { folder, bytes: job.batchBytes, take: (batch: Batch) => intake.take(batch) }
    const places = kept === null ? [...files.keys()] : kept.read
    const due = places.flatMap((place) => files[place] ?? [])
    const read = await steps.time('reading', () => readSource(due, { table, progress, limits, taker }), 'own')
    const rejects = await requireFewRejects(job, intake, read, due, kept)
    const { staged } = intake
    if (table.partition === null)
      return { kept, intake, read, rejects, partitions: [{ value: null, rows: staged.goodRows, files: [] }] }
    const partitions = await partitionsIn(intake.taken.work, staged, read)
    if (kept === null) return { kept, intake, read, rejects, partitions }
    const values = new Set(partitions.map(({ value }) => value))
    const isMet = kept.partitions.some(({ partition }) => values.has(partition.value))
    const isAlike = table.source.unionByName || headerOf(read) === kept.before.header
    if (isAlike && !isMet) return { kept, intake, read, rejects, partitions }
    kept = isAlike ? without(kept, values, files.length) : null
    await rm(folder, { recursive: true })
  }
}

/** Returns a hash of the header that all files share, if their columns are not matched by name. */
export function headerOf({ headers }: ReadSource): string {
  return createHash('sha256').update(JSON.stringify(headers[0]?.header)).digest('hex')
}

/**
 * Returns the first rejects with details, if the catalog allows that many rejected rows.
 * @throws TableFailure with the first rejects and their lines, if there are more than allowed
 */
async function requireFewRejects(
  job: Job,
  { staged: { badRows }, badCount, badValues: values }: Intake,
  read: ReadSource,
  files: readonly PlacedFile[],
  kept: Reusable | null,
): Promise<readonly Reject[]> {
  if (badRows === 0 && read.rejectedRows === 0) return []
  const records = new Set(values.map(({ record }) => record))
  const { table, limits, progress } = job
  const located =
    records.size === 0
      ? null
      : await readSource(files, { table, progress, limits, taker: null, locate: records })
  const bad = values.map(({ record, field, text, reason }): Reject => {
    const { file = '', line = 0 } = located?.lines.get(record) ?? {}
    return {
      ...(job.files.length > 1 && { file }),
      line,
      field,
      text: hidesText(table) ? null : text,
      reason,
    }
  })
  const rejects = [...read.rejects, ...bad].slice(0, detailedRejectsMax)
  const before = kept?.partitions.reduce((sum, { partition }) => sum + leftOut(partition), 0) ?? 0
  const rows = badRows + read.rejectedRows + before
  if (rows <= table.rejectsMax) return rejects
  const allowed = table.rejectsMax === 0 ? '' : `, and the catalog allows ${table.rejectsMax}`
  const what = rows === 1 ? 'a row does' : `${rows.toLocaleString('en')} rows do`
  throw new TableFailure(
    `${what} not match the catalog${allowed}; nothing was published`,
    rejects,
    badCount + read.rejectedRows,
  )
}

/** Returns the number of rejected rows of a partition. */
const leftOut = ({ records, rejectedRows, rows }: Partition): number => records + rejectedRows - rows
