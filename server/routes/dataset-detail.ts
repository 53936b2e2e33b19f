import type { Runtime } from './runtime.ts'
import type { Dataset, Family } from '../../core/catalog/catalog.ts'
import { documentAddresses } from '../documents/addresses.ts'
import { addressesOf, fileAddresses, addressForm } from '../http/addresses.ts'
import { contentName, type NamedResponse } from '../http/responder.ts'
import { jsonOffer, negotiate } from '../http/negotiation.ts'
import { parseQuery } from '../query/parameters.ts'
import type { Resource } from '../http/resource.ts'
import { jsonType } from '../http/send.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { findDataset } from './find.ts'
import { timeInZone } from '../../core/time-in-zone.ts'
import { summaryOf } from './summary.ts'

/** Spec: Endpoints 2 and 5, Dataset detail, Table descriptor. */
export function datasetDetail(family: Family, service: Runtime): Resource {
  const { catalog, snapshots } = service
  const cachedDetails = new Map<Dataset, Detail>()
  return {
    path: '/dataset/:dataset',
    name: 'Dataset Detail',
    description: `One dataset: its metadata, links and tables. ${catalog.notice}`,
    find: ({ params, target, headers }) => {
      const dataset = findDataset(catalog, params)
      negotiate(headers, parseQuery(target, ['format']).get('format'), [jsonOffer])
      const cachedDetail = cachedDetails.get(dataset)
      if (cachedDetail?.isCurrent() === true) return cachedDetail.answer
      const tables = [...dataset.tables.values()]
      const tableSnapshots = tables.map((table) => snapshots.current(table))
      const detail = {
        answer: detailOf(family, service, dataset, tableSnapshots),
        isCurrent: () => tables.every((table, index) => snapshots.current(table) === tableSnapshots[index]),
      }
      cachedDetails.set(dataset, detail)
      return detail.answer
    },
  }
}

interface Detail {
  readonly answer: NamedResponse
  readonly isCurrent: () => boolean
}

function detailOf(
  family: Family,
  { publicUrl, freshness }: Runtime,
  dataset: Dataset,
  tableSnapshots: readonly (Snapshot | null)[],
): NamedResponse {
  const addresses = addressesOf(family, publicUrl)
  const { timezone } = addressForm(dataset, family)
  const importDates = tableSnapshots.map((snapshot) =>
    snapshot ? new Date(snapshot.manifest.import_date) : null,
  )
  const tables = [...dataset.tables.values()].map((table, index) => {
    const importDate = importDates[index] ?? null
    return {
      name: table.name,
      fields: table.fields.map(({ name, type }) => ({ name, type })),
      data_url: addresses.data(dataset, table),
      import_date: importDate === null ? null : timeInZone(importDate, timezone),
    }
  })
  const { links, collectedAt } = dataset
  const body = JSON.stringify({ ...summaryOf(dataset, addresses), links, collected_at: collectedAt, tables })
  return {
    name: contentName(body),
    cacheControl: freshness.changing,
    mediaType: jsonType,
    // The specification defines the body, so the files are linked in a header.
    headers: {
      Link: [
        `<${fileAddresses(publicUrl).dataset(dataset)}>; rel="describedby"; type="application/json"`,
        `<${documentAddresses(publicUrl).ofDataset(dataset, 'linkset.json')}>; rel="linkset"; type="application/linkset+json"`,
      ].join(', '),
    },
    isAtHand: true,
    body: () => ({ pieces: [body] }),
  }
}
