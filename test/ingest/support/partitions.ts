import type { Catalog } from '../../../core/catalog/catalog.ts'
import { filesOf, type Manifest } from '../../../core/warehouse/manifest.ts'
import type { IngestOptions } from '../../../ingest/run/options.ts'
import type { IngestReport } from '../../../ingest/job/report.ts'
import { catalogAround, fieldOf, importDate, type Workshop } from '../../support/workshop.ts'

let seconds = 0
/** Small parts, and a later second for each ingest. */
export const options: Partial<IngestOptions> = {
  partRows: 40,
  codedDistinctMax: 60,
  // Earlier content may return, as another snapshot.
  now: () => new Date(importDate.getTime() + 1000 * (seconds += 1)),
}

export interface Published {
  readonly manifest: Manifest
  readonly report: IngestReport
}

/** Publishes, or throws why not. */
export async function publishedBy(shop: Workshop, besides: Partial<IngestOptions> = {}): Promise<Published> {
  const [outcome] = await shop.ingest({ ...options, ...besides })
  if (outcome?.status === 'failed') throw outcome.failure
  if (outcome?.status !== 'published') throw new Error(`expected a snapshot, not ${outcome?.status}`)
  return outcome
}

/** All that a snapshot is, but for when it was made, and what was before it. */
export function essence({ manifest, report }: Published): unknown {
  const { rows, textBytes, partitions, header, parts, order, fields, sources, definition } = manifest
  const files = filesOf(manifest).filter(({ file }) => !/^(report|changes)/.test(file))
  return {
    rows,
    textBytes,
    partitions,
    header,
    parts,
    order,
    fields,
    sources,
    definition,
    files,
    rowsIn: report.rows_in,
    rowsOut: report.rows_out,
    rejected: report.rejected_rows,
    profile: report.fields,
    sections: report.download_sections,
  }
}

/** A table of months with one field besides. */
export const byMonths = (field: string, filters: readonly string[] = ['month']): Catalog =>
  catalogAround([
    {
      name: 't',
      order: ['month asc'],
      partition: 'month',
      filters: [...filters],
      source: { files: 'd/t-*.csv' },
      fields: ['month:integer', field].map(fieldOf),
    },
  ])
