import type { Runtime } from '../runtime.ts'
import {
  allTables,
  type Catalog,
  type Dataset,
  type Family,
  type Table,
} from '../../../core/catalog/catalog.ts'
import { documentAddresses } from '../../documents/addresses.ts'
import type { DatasetDescription, TableDescription, Writing } from '../../documents/description.ts'
import { addressesOf, fileAddresses, mixedFamilies } from '../../http/addresses.ts'
import { contentName, type NamedResponse } from '../../http/responder.ts'
import { aspects, pageAddresses } from '../../documents/page-addresses.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Snapshots } from '../../snapshots/snapshots.ts'
import { sourceHash } from '../source-hash.ts'

const writtenByThese = sourceHash('documents', 'formats', 'query')

export interface DocumentService extends Runtime {
  readonly writing: Writing
  /** Hash of catalog, public address and source code, for cache keys. */
  readonly writingName: string
}

export function documentService(service: Runtime): DocumentService {
  const { catalog, publicUrl, websubHub } = service
  const writing = writingOf(catalog, publicUrl)
  return {
    ...service,
    writing,
    writingName: contentName(JSON.stringify([writtenByThese, publicUrl.href, catalog.hash, websubHub])),
  }
}

/** First family that pages can link to, as https pages block http addresses; else the first one. */
export function mainFamily({ families }: Pick<Catalog, 'families'>, publicUrl: URL): Family {
  const blockedFamilies = mixedFamilies(families, publicUrl)
  const family = families.find((candidate) => !blockedFamilies.includes(candidate)) ?? families[0]
  if (family === undefined) throw new Error('the catalog has no family')
  return family
}

export function writingOf(catalog: Catalog, publicUrl: URL): Writing {
  const pages = pageAddresses(publicUrl)
  const family = mainFamily(catalog, publicUrl)
  const pagesOf: Writing['pagesOf'] = (language, dataset, table) => {
    const paths =
      dataset === undefined
        ? [pages.home(language), pages.aboutPage(language), pages.limits(language), pages.reference(language)]
        : table === undefined
          ? [pages.dataset(language, dataset), pages.files(language, dataset)]
          : [
              pages.table(language, table),
              ...aspects.map((aspect) => pages.aspect(language, table, aspect)),
              pages.reference(language, table),
            ]
    return paths.map((path) => publicUrl.origin + path)
  }
  return {
    catalog,
    base: `${publicUrl.origin}${publicUrl.pathname.replace(/\/$/, '')}`,
    rows: addressesOf(family, publicUrl),
    files: fileAddresses(publicUrl),
    documents: documentAddresses(publicUrl),
    page: (language, dataset, table) => pagesOf(language, dataset, table)[0] ?? publicUrl.href,
    pagesOf,
  }
}

/** A field is nullable if it may have nulls in any snapshot that can be queried. */
export async function describeTable(
  snapshots: Snapshots,
  dataset: Dataset,
  table: Table,
): Promise<TableDescription> {
  return descriptionOf(dataset, table, await snapshots.retainedSnapshots(table))
}

function descriptionOf(
  dataset: Dataset,
  table: Table,
  retained: readonly Pick<Snapshot, 'manifest' | 'report'>[],
): TableDescription {
  const [current] = retained
  const statistics = retained.map(({ report }) => report?.fields)
  const mayBeNull = (name: string): boolean =>
    statistics.length === 0 ||
    statistics.some((fields) => fields?.find((field) => field.name === name)?.nulls !== 0)
  return {
    dataset,
    table,
    manifest: current?.manifest ?? null,
    report: current?.report ?? null,
    nullable: new Set(table.fields.map(({ name }) => name).filter(mayBeNull)),
  }
}

/** Reads no files. */
export function describeDataset(snapshots: Snapshots, dataset: Dataset): DatasetDescription {
  const tables = [...dataset.tables.values()].map((table) =>
    currentView(dataset, table, snapshots.current(table)),
  )
  return { dataset, tables }
}

export function currentView(
  dataset: Dataset,
  table: Table,
  snapshot: Pick<Snapshot, 'manifest' | 'report'> | null,
): TableDescription {
  return descriptionOf(dataset, table, snapshot === null ? [] : [snapshot])
}

export function datasetViews({ catalog, snapshots }: DocumentService): DatasetDescription[] {
  return [...catalog.datasets.values()].map((dataset) => describeDataset(snapshots, dataset))
}

interface About {
  readonly key: readonly string[]
  /** Tables that the document describes; null for all. */
  readonly tables: readonly Table[] | null
}

type Text = string | Uint8Array
type Awaitable<T> = T | Promise<T>

/**
 * Writes a document once per state of its snapshots, and charges the first client.
 * @param write returns the text, or waits for data and returns a function that writes it, so that the wait is
 * not charged
 */
export function documentResponse(
  service: DocumentService,
  descriptor: About,
  mediaType: string,
  write: (signal: () => AbortSignal) => Awaitable<Text | (() => Awaitable<Text>)>,
  headers: Readonly<Record<string, string>> = {},
): NamedResponse {
  const { snapshots, freshness, writingName } = service
  const state = descriptor.tables === null ? stateOfAll(service) : stateOf(snapshots, descriptor.tables)
  return {
    name: contentName(JSON.stringify([writingName, ...descriptor.key, state])),
    cacheControl: freshness.changing,
    mediaType,
    headers,
    isAtHand: false,
    body: async (signal) => {
      let begin = performance.now()
      let text = await write(signal)
      if (typeof text === 'function') {
        begin = performance.now()
        text = await text()
      }
      return { pieces: [text], ms: performance.now() - begin + compressionWork * text.length }
    },
  }
}

/** Processor time per character, in ms. */
const compressionWork = 2e-5

function stateOf(snapshots: Snapshots, tables: readonly Table[]): string {
  return tables.map((table) => snapshots.current(table)?.manifest.snapshot ?? '').join()
}

const states = new WeakMap<Snapshots, { readonly version: number; readonly state: string }>()

function stateOfAll({ snapshots, catalog }: DocumentService): string {
  const cachedText = states.get(snapshots)
  if (cachedText?.version === snapshots.version) return cachedText.state
  const state = contentName(stateOf(snapshots, allTables(catalog)))
  states.set(snapshots, { version: snapshots.version, state })
  return state
}
