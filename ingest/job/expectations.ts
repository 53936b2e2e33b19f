import { allTables, hidesText, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { holdsFields } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import type { PinnedFile, Store } from '../../core/warehouse/stores/store.ts'
import { TableFailure, type Reject } from '../base/rejects.ts'
import type { Work } from '../convert/convert.ts'
import { brokenRows, brokenRules, type ReferencedFiles } from '../convert/expectations.ts'
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
  const rules = await brokenRules(work, filesOf)
  if (rules.length === 0) return true
  if (reusable !== null) return false
  const count = rules.reduce((sum, rule) => sum + rule.count, 0)
  const broken = await brokenRows(work, intake.staged, rules)
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
  throw new TableFailure(`${what} an expectation of the catalog; nothing was published`, rejects, {
    count,
    remedy: 'correct the source, or change `expect` in the catalog',
  })
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

/** Parquet files with the rows of the tables that a table refers to. */
interface Referenced {
  /** By `dataset/table`. */
  readonly files: Job['referenced']
  /** Allows a remote store to evict them again. */
  readonly release: () => void
}

/**
 * Makes the rows of referenced tables available on this machine.
 * @param unpublished files that replace the published ones, by `dataset/table`
 * @throws TableFailure if a table is not published with its current fields
 */
export async function pinReferenced(
  table: Table,
  { catalog, store }: { readonly catalog: Catalog; readonly store: Store },
  unpublished: Job['referenced'],
): Promise<Referenced> {
  const files = new Map<string, readonly string[]>()
  const pinned: PinnedFile[] = []
  for (const id of referencedTables(table)) {
    const parts = unpublished.has(id) ? [] : await publishedParts(id, catalog, store)
    files.set(id, unpublished.get(id) ?? parts.map(({ key }) => store.place(key)))
    pinned.push(...parts)
  }
  return { files, release: await store.pin(pinned) }
}

async function publishedParts(id: string, catalog: Catalog, store: Store): Promise<PinnedFile[]> {
  const target = allTables(catalog).find((table) => tableId(table) === id)
  const manifest = target === undefined ? null : await publishedOf(store, target)
  if (target === undefined || manifest === null || !holdsFields(manifest, target))
    throw new TableFailure(
      `${id}, which an expectation refers to, is not published with its current fields: run \`acervo ingest ${id}\` first`,
    )
  const folder = layout.snapshot(target, manifest.snapshot)
  return manifest.parts.map(({ file, bytes, sha256 }) => ({ key: `${folder}/${file}`, bytes, sha256 }))
}
