import type { DuePart } from '../convert/conversion.ts'
import path from 'node:path'
import type { GzipSection } from '../../core/warehouse/format/gzip-sections.ts'
import { sumsOf, type Sums } from '../../core/warehouse/hash.ts'
import { fileNames } from '../../core/warehouse/layout.ts'
import { previousDownload, isReused, type Planned } from '../convert/parts/reused-partitions.ts'
import { writeDownload, type PreviousSection } from '../publish/download.ts'
import type { Job } from './job.ts'
import type { CastSource } from './read-and-cast.ts'

export interface ProvedParts extends CastSource {
  readonly folder: string
  readonly plan: Planned
}

export interface PackedDownload {
  readonly sections: GzipSection[]
  readonly sums: Sums
}

/**
 * Writes the download; copies sections of reused parts from the previous one. Returns its sections and
 * checksums.
 */
export async function pack(
  { table, store, progress }: Job,
  { intake, folder, plan, read, reusable }: ProvedParts,
): Promise<PackedDownload> {
  const previousFile = reusable === null ? '' : store.place(previousDownload(table, reusable).key)
  const pieces = plan.parts.map((part): DuePart | PreviousSection => {
    if (!isReused(part)) return part
    const { section, sectionAt: start } = part.reused
    return { file: previousFile, start, section }
  })
  const sections = await writeDownload(
    intake.matched.conversion,
    folder,
    pieces,
    read.counts.breaks > 0,
    progress,
  )
  return { sections, sums: await sumsOf(path.join(folder, fileNames.download(table))) }
}
