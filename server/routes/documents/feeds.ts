import { tableId, type CatalogTexts, type Dataset, type Table } from '../../../core/catalog/catalog.ts'
import { languages, type Language } from '../../../core/catalog/names.ts'
import { atom, atomType, entriesMax, type Change, type Withdrawal } from '../../documents/atom.ts'
import { unacceptableParameters } from '../../http/problems.ts'
import type { Resource } from '../../http/resource.ts'
import { parametersOf, parseQuery } from '../../query/parameters.ts'
import { withoutReservedNames } from '../../query/changes-query.ts'
import { withQuery } from '../../http/addresses.ts'
import { findDataset, findTable, requesterOf } from '../find.ts'
import { answerChanges, entriesOf, questionIn, subtitleOf } from './query-feed.ts'
import { offerOf } from './metadata.ts'
import { documentResponse, type DocumentService } from './service.ts'

const common = { offers: [offerOf(atomType)] }

export function serviceFeed(service: DocumentService): Resource {
  const { writing } = service
  return {
    ...common,
    path: '/atom.xml',
    name: 'Feed',
    description: 'What changed, as Atom.',
    find: ({ target }) => {
      const { language, catalog } = requestedLanguage(service, target)
      const collectionDates = [...catalog.datasets.values()].map(({ collectedAt }) => collectedAt)
      const datasets = [...catalog.datasets.values()].filter(({ listedIn }) => listedIn.size > 0)
      const withdrawals = datasets.flatMap((dataset) => withdrawalsOf(service, dataset))
      const key = ['feed', language, ...withdrawals.map(({ snapshot }) => snapshot)]
      return documentResponse(service, { key, tables: null }, atomType, () => {
        const changes = datasets.flatMap((dataset) => currentChanges(service, dataset))
        return atom(writing, {
          language,
          title: catalog.title,
          subtitle: catalog.description,
          self: writing.documents.feed(language),
          page: writing.page(language),
          fallbackDate: `${collectionDates.toSorted().at(-1) ?? '1970-01-01'}T00:00:00Z`,
          changes: changes.toSorted(newestFirst),
          withdrawals,
          hub: service.websubHub,
        })
      })
    },
  }
}

export function datasetFeed(service: DocumentService): Resource {
  const { writing } = service
  return {
    ...common,
    path: '/:dataset/atom.xml',
    name: 'Dataset Feed',
    description: 'Changes of a dataset as Atom.',
    find: ({ params, target }) => {
      const { language, catalog } = requestedLanguage(service, target)
      const dataset = findDataset(catalog, params)
      const tables = [...dataset.tables.values()]
      const withdrawals = withdrawalsOf(service, dataset)
      return documentResponse(
        service,
        { key: ['feed', dataset.slug, language, ...withdrawals.map(({ snapshot }) => snapshot)], tables },
        atomType,
        async () => {
          const changes = await Promise.all(tables.map((table) => retainedChanges(service, dataset, table)))
          return () =>
            atom(writing, {
              language,
              title: `${catalog.title}: ${dataset.name}`,
              subtitle: dataset.description,
              self: writing.documents.datasetFeed(dataset, language),
              page: writing.page(language, dataset),
              fallbackDate: `${dataset.collectedAt}T00:00:00Z`,
              changes: changes.flat().toSorted(newestFirst),
              withdrawals,
              hub: service.websubHub,
            })
        },
      )
    },
  }
}

export function tableFeed(service: DocumentService): Resource {
  const { writing } = service
  return {
    ...common,
    path: '/:dataset/:table/atom.xml',
    name: 'Table Feed',
    description: 'Changes of a table, or of the answer to a query, as Atom.',
    countsAs: 'rows',
    find: async (request) => {
      const pairs = parametersOf(request.target)
      const { language, catalog } = requestedLanguage(
        service,
        queryOf(pairs, (name) => name === 'lang'),
      )
      const dataset = findDataset(catalog, request.params)
      const table = findTable(dataset, request.params)
      const question = questionIn(
        table,
        queryOf(pairs, (name) => name !== 'lang'),
      )
      const parameters = new Map(question?.parameters)
      const withdrawals = question === null ? withdrawalsOf(service, dataset, [table]) : []
      const key = [
        'feed',
        tableId(table),
        language,
        JSON.stringify([...parameters]),
        ...withdrawals.map(({ snapshot }) => snapshot),
      ]
      // Other clients may wait for the same entries, so a client that leaves stops nothing.
      const lastingRequester = requesterOf(request, () => new AbortController().signal, service.pageBytesMax)
      const entryIds = question && (await entriesOf(service, dataset, table, question, lastingRequester))
      return documentResponse(
        service,
        // With a query, the document changes with its entries, not with each snapshot.
        entryIds === null ? { key, tables: [table] } : { key: [...key, ...entryIds], tables: [] },
        atomType,
        async (signal) => {
          const requester = requesterOf(request, signal, service.pageBytesMax)
          const changes =
            question === null
              ? await retainedChanges(service, dataset, table)
              : await answerChanges(service, dataset, table, question, requester)
          return () =>
            atom(writing, {
              language,
              title: `${catalog.title}: ${dataset.name}, ${table.title ?? table.name}`,
              subtitle: question === null ? (table.description ?? '') : subtitleOf(question, language),
              self: writing.documents.tableFeed(table, language, withoutReservedNames(parameters, ['lang'])),
              page: withQuery(
                writing.page(language, dataset, table),
                // The page of a table shows rows, not groups.
                question !== null && 'terms' in question ? new Map() : parameters,
                1,
              ),
              fallbackDate: `${dataset.collectedAt}T00:00:00Z`,
              changes,
              withdrawals,
              // An ingest notifies the hub only about feeds without a query.
              hub: question === null ? service.websubHub : '',
            })
        },
      )
    },
  }
}

function queryOf(pairs: readonly (readonly [string, string])[], isWanted: (name: string) => boolean): string {
  return `?${new URLSearchParams(pairs.filter(([name]) => isWanted(name)).map((pair) => [...pair])).toString()}`
}

/**
 * Language of the parameter `lang`; English by default.
 * @throws Problem invalid-parameter for an unknown language
 */
function requestedLanguage(
  { catalog }: DocumentService,
  target: string,
): { readonly language: Language; readonly catalog: CatalogTexts } {
  const name = parseQuery(target, ['lang']).get('lang') ?? 'en'
  const language = languages.find((code) => code === name)
  if (language !== undefined) return { language, catalog: catalog.inLanguage.get(language) ?? catalog }
  const message = `The parameter "lang" must be one of ${languages.join(', ')}.`
  throw unacceptableParameters([{ parameter: 'lang', message }])
}

function currentChanges({ snapshots }: DocumentService, dataset: Dataset): Change[] {
  return [...dataset.tables.values()].flatMap((table) => {
    const snapshot = snapshots.current(table)
    return snapshot === null ? [] : [{ dataset, table, manifest: snapshot.manifest, report: snapshot.report }]
  })
}

function withdrawalsOf(
  { snapshots }: DocumentService,
  dataset: Dataset,
  tables: Iterable<Table> = dataset.tables.values(),
): Withdrawal[] {
  return [...tables].flatMap((table) => {
    const current = snapshots.current(table)?.manifest
    return current === undefined
      ? []
      : snapshots.rollbacks(table).map(({ snapshot, at }) => ({ dataset, table, snapshot, at, current }))
  })
}

async function retainedChanges(
  { snapshots }: DocumentService,
  dataset: Dataset,
  table: Table,
): Promise<Change[]> {
  const retainedSnapshots = await snapshots.retainedSnapshots(table)
  return retainedSnapshots
    .slice(0, entriesMax)
    .map(({ manifest, report }) => ({ dataset, table, manifest, report }))
}

function newestFirst({ manifest: a }: Change, { manifest: b }: Change): number {
  return a.import_date < b.import_date ? 1 : -1
}
