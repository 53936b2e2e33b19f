import { duckdbVersion } from '../../../../core/duckdb/database.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import type { Scan } from './scan.ts'

/**
 * The files that hold the words of the parts of a scan; null where not all do, others are searched by now, or another
 * version of DuckDB folded them, which may fold some character in another way than the one that folds the query.
 */
export function wordIndexes({ manifest, table }: Snapshot, { parts }: Scan): string[] | null {
  if (manifest.tools['duckdb'] !== duckdbVersion) return null
  const files = parts.flatMap((part) => {
    const number = manifest.parts.indexOf(part)
    const index = manifest.indexes?.find((one) => one.part === number)
    return index?.fields.join('\n') === table.search.join('\n') ? [index.file] : []
  })
  return files.length === parts.length && files.length > 0 ? files : null
}
