import { tableId, type Dataset, type Table } from '../../../core/catalog/catalog.ts'
import { atom, atomType, entriesMax, type Change } from '../../documents/atom.ts'
import type { Resource } from '../../http/resource.ts'
import { parseQuery } from '../../query/parameters.ts'
import { findDataset, findTable } from '../find.ts'
import { offerOf } from './metadata.ts'
import { documentResponse, type DocumentService } from './service.ts'

const common = { offers: [offerOf(atomType)] }

/** Feed of all changes. */
export function serviceFeed(service: DocumentService): Resource {
  const { catalog, writing } = service
  const collected = [...catalog.datasets.values()].map(({ collectedAt }) => collectedAt)
  return {
    ...common,
    path: '/atom.xml',
    name: 'Feed',
    description: 'What changed, as Atom.',
    find: ({ target }) => {
      parseQuery(target, [])
      return documentResponse(service, { key: ['feed'], tables: null }, atomType, () => {
        const changes = [...catalog.datasets.values()]
          .filter(({ listedIn }) => listedIn.size > 0)
          .flatMap((dataset) => currentChanges(service, dataset))
        return atom(writing, {
          title: catalog.title,
          subtitle: catalog.description,
          self: writing.documents.feed(),
          page: writing.page('en'),
          fallbackDate: `${collected.toSorted().at(-1) ?? '1970-01-01'}T00:00:00Z`,
          changes: changes.toSorted(newestFirst),
        })
      })
    },
  }
}

/** Feed of the changes of a dataset. */
export function datasetFeed(service: DocumentService): Resource {
  const { catalog, writing } = service
  return {
    ...common,
    path: '/:dataset/atom.xml',
    name: 'Dataset Feed',
    description: 'Changes of a dataset as Atom.',
    find: ({ params, target }) => {
      const dataset = findDataset(catalog, params)
      parseQuery(target, [])
      const tables = [...dataset.tables.values()]
      return documentResponse(service, { key: ['feed', dataset.slug], tables }, atomType, async () => {
        const changes = await Promise.all(tables.map((table) => retainedChanges(service, dataset, table)))
        return () =>
          atom(writing, {
            title: `${catalog.title}: ${dataset.name}`,
            subtitle: dataset.description,
            self: writing.documents.datasetFeed(dataset),
            page: writing.page('en', dataset),
            fallbackDate: `${dataset.collectedAt}T00:00:00Z`,
            changes: changes.flat().toSorted(newestFirst),
          })
      })
    },
  }
}

/** Feed of the changes of a table. */
export function tableFeed(service: DocumentService): Resource {
  const { catalog, writing } = service
  return {
    ...common,
    path: '/:dataset/:table/atom.xml',
    name: 'Table Feed',
    description: 'Changes of a table as Atom.',
    find: ({ params, target }) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      parseQuery(target, [])
      return documentResponse(
        service,
        { key: ['feed', tableId(table)], tables: [table] },
        atomType,
        async () => {
          const changes = await retainedChanges(service, dataset, table)
          return () =>
            atom(writing, {
              title: `${catalog.title}: ${dataset.name}, ${table.title ?? table.name}`,
              subtitle: table.description ?? '',
              self: writing.documents.tableFeed(table),
              page: writing.page('en', dataset, table),
              fallbackDate: `${dataset.collectedAt}T00:00:00Z`,
              changes,
            })
        },
      )
    },
  }
}

function currentChanges({ snapshots }: DocumentService, dataset: Dataset): Change[] {
  return [...dataset.tables.values()].flatMap((table) => {
    const snapshot = snapshots.current(table)
    return snapshot === null ? [] : [{ dataset, table, manifest: snapshot.manifest, report: snapshot.report }]
  })
}

async function retainedChanges(
  { snapshots }: DocumentService,
  dataset: Dataset,
  table: Table,
): Promise<Change[]> {
  const retained = await snapshots.retainedSnapshots(table)
  return retained.slice(0, entriesMax).map(({ manifest, report }) => ({ dataset, table, manifest, report }))
}

function newestFirst({ manifest: a }: Change, { manifest: b }: Change): number {
  return a.import_date < b.import_date ? 1 : -1
}
