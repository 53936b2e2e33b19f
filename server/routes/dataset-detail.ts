import type { Family } from '../../core/catalog/catalog.ts'
import { addressesOf, formOf } from '../http/addresses.ts'
import { sendJson } from '../http/answers.ts'
import { negotiate } from '../http/negotiation.ts'
import { parseQuery } from '../http/query.ts'
import type { Resource } from '../http/resource.ts'
import { findDataset } from './find.ts'
import { timeInZone } from './import-date.ts'
import type { DetailService } from './services.ts'
import { summaryOf } from './summary.ts'

/** One dataset with its tables (spec: Endpoints 2 and 5, Dataset detail, Table descriptor). */
export function datasetDetail(
  family: Family,
  { catalog, publicUrl, limits, snapshots }: DetailService,
): Resource {
  const addresses = addressesOf(family, publicUrl)
  return {
    path: '/dataset/:dataset',
    name: 'Dataset Detail',
    description: `One dataset: its metadata, links and tables. ${catalog.notice}`,
    limits,
    get: (req, res) => {
      const dataset = findDataset(catalog, req.params)
      negotiate(req, parseQuery(req.url, ['format']).get('format'))
      const { timezone } = formOf(dataset, family)
      const tables = [...dataset.tables.values()].map((table) => {
        const snapshot = snapshots.current(table)
        return {
          name: table.name,
          fields: table.fields.map(({ name, type }) => ({ name, type })),
          data_url: addresses.data(dataset, table),
          import_date:
            snapshot === null ? null : timeInZone(new Date(snapshot.manifest.import_date), timezone),
        }
      })
      const { links, collectedAt } = dataset
      sendJson(res, [
        JSON.stringify({ ...summaryOf(dataset, addresses), links, collected_at: collectedAt, tables }),
      ])
    },
  }
}
