import { constants } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { allTables, hidesText, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { holdsFields } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { TableFailure, type Reject } from '../base/rejects.ts'
import type { Work } from '../convert/convert.ts'
import { brokenRows, countBroken, type ReferencedFiles } from '../convert/expectations.ts'
import type { Job } from './job.ts'
import { locateRecords, type CastSource } from './read-and-cast.ts'

/**
 * Tests all rows against the expectations of the catalog.
 * @returns false if some are broken, but partitions were reused, so that lines are unknown
 * @throws TableFailure with the rows at fault
 */
export async function requireExpectations(
  job: Job,
  { work, intake, reusable }: CastSource & { readonly work: Work },
): Promise<boolean> {
  const { table, files, referenced } = job
  const filesOf: ReferencedFiles = (target) => referenced.get(`${target.dataset}/${target.table}`) ?? null
  const counts = await countBroken(work, filesOf)
  const count = counts.reduce((sum, broken) => sum + broken, 0)
  if (count === 0) return true
  if (reusable !== null) return false
  const broken = await brokenRows(work, intake.staged, counts, filesOf)
  const records = broken.flatMap(({ record, sameAs }) => (sameAs === null ? [record] : [record, sameAs]))
  const locate = await locateRecords(job, files, new Set(records))
  const rejects = broken.map(({ record, sameAs, field, text, reason }): Reject => {
    const earlier = sameAs === null ? null : locate(sameAs)
    const place =
      earlier === null
        ? ''
        : `: line ${earlier.line}${earlier.file === undefined ? '' : ` of ${earlier.file}`} has it too`
    return { ...locate(record), field, text: hidesText(table) ? null : text, reason: `${reason}${place}` }
  })
  const what = count === 1 ? 'a value breaks' : `${count.toLocaleString('en')} values break`
  throw new TableFailure(
    `${what} an expectation of the catalog; nothing was published. Correct the source, or change \`expect\` in the catalog`,
    rejects,
    count,
  )
}

/** Returns the tables that the expectations of a table refer to, besides itself. */
export function referencedTables(table: Table): Set<string> {
  const targets = table.expectations.flatMap((expectation) =>
    expectation.kind === 'references'
      ? [tableId({ dataset: expectation.target.dataset, name: expectation.target.table })]
      : [],
  )
  return new Set(targets.filter((id) => id !== tableId(table)))
}

/** Source of rows for references. */
interface Published {
  readonly catalog: Catalog
  readonly store: Store
}

/**
 * Copies the rows of referenced tables into a folder, and returns the files of each table.
 * @param unpublished rows that replace the published ones, by `dataset/table`
 * @throws TableFailure if a table is not published with its current fields
 */
export async function copyReferenced(
  table: Table,
  { catalog, store }: Published,
  folder: string,
  unpublished: Job['referenced'],
): Promise<Job['referenced']> {
  const copies = new Map<string, string[]>()
  for (const id of referencedTables(table)) {
    const own = path.join(folder, 'referenced', String(copies.size))
    await mkdir(own, { recursive: true })
    const copy = async (files: readonly string[]): Promise<string[]> => {
      const paths = files.map((_, index) => path.join(own, `${index}.parquet`))
      for (const [index, file] of files.entries())
        await copyFile(file, paths[index] ?? '', constants.COPYFILE_FICLONE)
      return paths
    }
    const files = unpublished.get(id)
    copies.set(id, files === undefined ? await withPublished(id, catalog, store, copy) : await copy(files))
  }
  return copies
}

/** Runs work on the published parts of a table, as files that are on this machine meanwhile. */
async function withPublished<Result>(
  id: string,
  catalog: Catalog,
  store: Store,
  work: (files: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const target = allTables(catalog).find((table) => tableId(table) === id)
  const manifest = target === undefined ? null : await publishedOf(store, target)
  if (target === undefined || manifest === null || !holdsFields(manifest, target))
    throw new TableFailure(
      `${id}, which an expectation refers to, is not published with its current fields: run \`acervo ingest ${id}\` first`,
    )
  const folder = layout.snapshot(target, manifest.snapshot)
  const parts = manifest.parts.map(({ file, bytes, sha256 }) => ({ key: `${folder}/${file}`, bytes, sha256 }))
  const release = await store.pin(parts)
  try {
    return await work(parts.map(({ key }) => store.place(key)))
  } finally {
    release()
  }
}
