import { fileNames } from '../../core/warehouse/layout.ts'
import { fileAddresses } from '../http/addresses.ts'
import type { WholeTable } from '../http/problems.ts'
import { attachLine } from '../documents/attach.ts'
import type { RouteParameters } from './find.ts'
import type { DetailService } from './services.ts'

/** What gives all of a table at once: its download, and the line by which DuckDB reads it where it lies. */
export function wholeTableOf({
  catalog,
  snapshots,
  publicUrl,
}: Pick<DetailService, 'catalog' | 'snapshots' | 'publicUrl'>): (
  params: RouteParameters,
) => WholeTable | null {
  const addresses = fileAddresses(publicUrl)
  return ({ dataset, table: name }) => {
    const table = catalog.datasets.get(String(dataset))?.tables.get(String(name))
    const manifest = table === undefined ? undefined : snapshots.current(table)?.manifest
    if (table === undefined || manifest === undefined) return null
    const download = manifest.files.find(({ file }) => file === fileNames.download(table))
    if (download === undefined) return null
    const { bytes, sha512 } = download
    // That of the snapshot, of which the sum is.
    const address = addresses.file(table, manifest.snapshot, download.file)
    return { file: { address, bytes, sha512 }, duckdb: attachLine(table, addresses) }
  }
}
