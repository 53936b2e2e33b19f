import type { Table } from '../../core/catalog/catalog.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { packingOf } from '../source/packings.ts'
import { misreadText, type ReadFile, type ReadSource } from '../source/read.ts'
import { isTotal } from '../source/total-words.ts'
import type { Job } from './job.ts'
import type { CastSource } from './read-and-cast.ts'
import { sourceTotals } from './source-totals.ts'

/** Faults of a source that do not prevent publication. */
export function warningsOf(job: Job, castSource: CastSource): string[] {
  const { table, files } = job
  const { read } = castSource
  // Compressed files and files with checksums can be verified without a length.
  const unmeasured = files.filter(
    ({ name, isUnmeasured }) =>
      isUnmeasured === true && packingOf(name) === null && table.source.checksums === null,
  )
  const misread = read.lineNotes.find(({ kind }) => kind === 'misread')
  const sources = sourceTotals(job, castSource).files
  return [
    ...(misread === undefined ? [] : [`line ${misread.line} of ${misread.file} ${misreadText}`]),
    ...read.filesWithoutLastLineFeed.map(
      (file) => `the last line of ${file} has no line ending: check that the file is complete`,
    ),
    ...read.filesWithoutStop.map(
      (file) =>
        `no line of ${file} begins with ${JSON.stringify(table.source.stopAt)}, where its rows should end: check that the file is complete`,
    ),
    ...unmeasured.map(
      ({ name }) => `the server did not state the length of ${name}: check that the file is complete`,
    ),
    ...lastRowWarnings(table, read),
    ...read.rowsLeftOut.map(
      ({ file, text }) =>
        `source.skip_last leaves out a line of ${file} that has a value in every column, as a row has${text === null ? '' : `: ${text}`}`,
    ),
    ...(sources.length > 1
      ? filesWithoutRows(read).map(({ name }) => `the file ${name} of the source has no rows`)
      : []),
    ...repeatedFiles(sources).map(
      ([name, earlierName]) => `${name} has the same content as ${earlierName}: its rows occur twice`,
    ),
  ]
}

function lastRowWarnings({ source, totals }: Table, { headers, lastRows }: ReadSource): string[] {
  return lastRows.flatMap(({ file, line, column, value, filled }) => {
    const header = headers.find((columns) => columns.file === file)?.header ?? []
    const name = header[column] ?? ''
    const label = value.trim()
    const place = `line ${line} of ${file} is published as a row, and`
    if (isTotal(label)) {
      const drop = JSON.stringify({ [name]: [label] })
      return totals.get(source.rename.get(name) ?? name) === label
        ? []
        : [
            `${place} sums up other rows, as ${JSON.stringify(label)} suggests: source.drop: ${drop} leaves it out`,
          ]
    }
    const isNote = filled === 1 && (header.length > 2 || (header.length > 1 && notePattern.test(label)))
    return isNote
      ? [
          `${place} has one value alone, ${JSON.stringify(label)}, as a note has: source.drop or stop_at leaves it out`,
        ]
      : []
  })
}

const notePattern = /^[\p{L} ]{3,30}:/u

function repeatedFiles(files: readonly ReadFile[]): [name: string, earlierName: string][] {
  const names = new Map<string, string>()
  return files.flatMap(({ name, sha256 }): [string, string][] => {
    const earlierName = names.get(sha256)
    if (earlierName !== undefined) return [[name, earlierName]]
    names.set(sha256, name)
    return []
  })
}

function filesWithoutRows({ files, fileCounts }: ReadSource): ReadFile[] {
  return files.filter((_, index) => {
    const counts = fileCounts[index]
    return counts !== undefined && counts.records + counts.rejectedRows === 0
  })
}

/** Drift of a source with several files: those whose rows would disappear silently. */
export function missingFilesDrift(
  earlierManifest: Manifest | null,
  { files }: Pick<ReadSource, 'files'>,
  read: ReadSource,
): string[] {
  if (earlierManifest === null || earlierManifest.sources.length < 2) return []
  const names = new Set(files.map(({ name }) => name))
  const missingSources = earlierManifest.sources.filter(({ name }) => !names.has(name))
  const emptied = filesWithoutRows(read).filter(({ name, sha256 }) =>
    earlierManifest.sources.some((source) => source.name === name && source.sha256 !== sha256),
  )
  return [
    ...missingSources.map(({ name }) => `the file ${name} of the source is missing`),
    ...emptied.map(({ name }) => `the file ${name} of the source has no rows any more`),
  ]
}
