import type { Table } from '../../core/catalog/catalog.ts'
import type { Manifest, Partition } from '../../core/warehouse/manifest.ts'
import type { Planned } from '../convert/parts/reused-partitions.ts'
import { noSourceCounts, totalCounts } from '../source/source-counts.ts'
import { misreadText, type ReadSource } from '../source/read.ts'
import { packingOf } from '../source/packings.ts'
import { isTotal } from '../source/total-words.ts'
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

export function partitionsOf(
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

export function warningsOf({ table, files }: Job, read: ReadSource): string[] {
  const { filesWithoutLastLineFeed, filesWithoutStop, lineNotes } = read
  // Compressed files and files with checksums can be verified without a length.
  const unmeasured = files.filter(
    ({ name, isUnmeasured }) =>
      isUnmeasured === true && packingOf(name) === null && table.source.checksums === null,
  )
  const misread = lineNotes.find(({ kind }) => kind === 'misread')
  return [
    ...(misread === undefined ? [] : [`line ${misread.line} of ${misread.file} ${misreadText}`]),
    ...filesWithoutLastLineFeed.map(
      (file) => `the last line of ${file} has no line ending: check that the file is complete`,
    ),
    ...filesWithoutStop.map(
      (file) =>
        `no line of ${file} begins with ${JSON.stringify(table.source.stopAt)}, where its rows should end: check that the file is complete`,
    ),
    ...unmeasured.map(
      ({ name }) => `the server did not state the length of ${name}: check that the file is complete`,
    ),
    ...totalWarnings(table, read),
  ]
}

/** A total that a refreshed file ends with would be a row of its table. */
function totalWarnings({ source, totals }: Table, { headers, lastRows }: ReadSource): string[] {
  return lastRows.flatMap(({ file, line, column, value }) => {
    const header = headers.find((columns) => columns.file === file)?.header[column] ?? ''
    const label = value.trim()
    if (!isTotal(label) || totals.get(source.rename.get(header) ?? header) === label) return []
    const drop = JSON.stringify({ [header]: [label] })
    return [
      `line ${line} of ${file} is published as a row, and sums up other rows, as ${JSON.stringify(label)} suggests: source.drop: ${drop} leaves it out`,
    ]
  })
}

/** Missing files of a source that had several, whose rows would disappear silently. */
export function missingFiles(
  earlierManifest: Manifest | null,
  { files }: Pick<ReadSource, 'files'>,
): string[] {
  if (earlierManifest === null || earlierManifest.sources.length < 2) return []
  const names = new Set(files.map(({ name }) => name))
  const missingSources = earlierManifest.sources.filter(({ name }) => !names.has(name))
  return missingSources.map(({ name }) => `the file ${name} of the source is missing`)
}
