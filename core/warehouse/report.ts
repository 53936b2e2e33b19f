import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { fileNames, layout } from './layout.ts'
import type { Manifest } from './manifest.ts'
import type { Store } from './stores/store.ts'

const fieldShape = z.object({
  name: z.string(),
  nulls: z.int(),
  /** Exact up to a million rows, else by HyperLogLog. */
  distinct_estimate: z.int().optional(),
  distinct: z.int().optional(),
  /** Shortened text; null if all values are null. */
  min: z.string().nullable().optional(),
  max: z.string().nullable().optional(),
  choices: z.array(z.string()).optional(),
  /** Null if nearly all values are distinct. */
  top: z
    .array(z.object({ value: z.string(), rows: z.int() }))
    .nullable()
    .optional(),
  /** Ranges above `from` up to `to`; the first one includes `from`. */
  histogram: z.array(z.object({ from: z.string(), to: z.string(), rows: z.int() })).optional(),
})

const rejectShape = z.object({
  file: z.string().optional(),
  line: z.int(),
  field: z.string().nullable().optional(),
  text: z.string().nullable().optional(),
  reason: z.string(),
})

const reportShape = z.object({
  rows_out: z.int(),
  rejected_rows: z.int().default(0),
  first_rejects: z.array(rejectShape).default([]),
  blank_lines: z.int().default(0),
  accepted_drift: z.array(z.string()).default([]),
  warnings: z.array(z.string()).default([]),
  fields: z.array(fieldShape),
  seconds: z.record(z.string(), z.number()).default({}),
  /**
   * See `format/gzip-sections.ts`: the header, then each part. Absent for downloads of several gzip members,
   * which many clients read only up to the first.
   */
  download_sections: z.array(z.tuple([z.int(), z.int(), z.int()])).optional(),
})

/** Part of a report that programs other than the ingest read. */
export type SnapshotReport = z.infer<typeof reportShape>

/** Null if the report is unreadable, or not the one that the manifest describes. */
export async function readReport(
  store: Store,
  table: Pick<Table, 'dataset' | 'name'>,
  manifest: Manifest,
): Promise<SnapshotReport | null> {
  const key = `${layout.snapshot(table, manifest.snapshot)}/${fileNames.report}`
  return parseReport(await store.get(key).catch(() => null), manifest)
}

/** Null if the SHA-256 differs from that in the manifest, or the report is invalid. */
export function parseReport(bytes: Buffer | null, manifest: Manifest): SnapshotReport | null {
  const sha256 = manifest.files.find(({ file }) => file === fileNames.report)?.sha256
  try {
    if (bytes === null || createHash('sha256').update(bytes).digest('hex') !== sha256) return null
    return reportShape.parse(JSON.parse(bytes.toString()))
  } catch {
    return null
  }
}
