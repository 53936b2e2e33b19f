import type { Manifest, Partition } from '../../core/warehouse/manifest.ts'
import type { Planned } from '../convert/parts/reused-partitions.ts'
import { noSourceCounts, totalCounts } from '../source/source-counts.ts'
import type { ReadSource } from '../source/read.ts'
import type { Job } from './job.ts'
import { headerOf, type CastSource } from './read-and-cast.ts'

export function sourceTotals(
  { files }: Job,
  { read, reusable }: CastSource,
): Pick<ReadSource, 'counts' | 'files'> {
  const partitions = reusable?.partitions ?? []
  const sources = reusable?.before.sources ?? []
  const sourceByName = new Map(sources.map((source) => [source.name, source]))
  const fresh = new Map(read.files.map((file) => [file.name, file]))
  return {
    files:
      reusable === null
        ? read.files
        : files.map(({ name, bytes }) => {
            const { sha256 } = fresh.get(name) ?? sourceByName.get(name) ?? { sha256: '' }
            return { name, bytes, sha256 }
          }),
    counts: totalCounts([
      read.counts,
      ...partitions.map(({ partition: { records, rejectedRows, textBytes, blankLines, commentLines } }) => ({
        ...noSourceCounts,
        records,
        rejectedRows,
        textBytes,
        blank: blankLines,
        comments: commentLines,
      })),
    ]),
  }
}

/** Partitions for the manifest: reused ones as they were, and others with the counts of their files. */
export function partitionsAndHeader(
  { table, files }: Job,
  { read, intake, reusable, plan }: CastSource & { readonly plan: Planned },
): Pick<Manifest, 'partitions' | 'header'> {
  if (table.partition === null) return {}
  const placesOfReadFiles = reusable === null ? [...files.keys()] : reusable.filesToRead
  let firstMember = 0
  const missingFieldsByFile = read.fileCounts.map(({ members }) => {
    const fileHeaders = read.headers.slice(firstMember, firstMember + members)
    firstMember += members
    return fileHeaders.map(({ header, constants }) => intake.lackingIn(header, constants))
  })
  const partitions = plan.partitions.map((partition): Partition => {
    const isReused = 'sources' in partition
    if (isReused) return partition
    const { records, rejectedRows, textBytes, blank, comments } = totalCounts(
      partition.files.flatMap((file) => read.fileCounts[file] ?? []),
    )
    // A partition lacks only fields that all its files lack.
    const [lacks = [], ...furtherLists] = partition.files.flatMap((file) => missingFieldsByFile[file] ?? [])
    return {
      value: partition.value,
      rows: partition.rows,
      sources: partition.files.flatMap((file) => placesOfReadFiles[file] ?? []),
      records,
      rejectedRows,
      textBytes,
      blankLines: blank,
      commentLines: comments,
      lacks: lacks.filter((name) => furtherLists.every((missingFields) => missingFields.includes(name))),
    }
  })
  return {
    partitions,
    ...(!table.source.unionByName && { header: headerOf(read) }),
  }
}
