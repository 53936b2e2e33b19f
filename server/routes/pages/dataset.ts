import type { Resource } from '../../http/resource.ts'
import { datasetPage } from '../../pages/dataset.ts'
import { parseQuery } from '../../query/string.ts'
import { findDataset } from '../find.ts'
import { document, pageAt, type PageService } from './documents.ts'

/** What a dataset is, whose, and how to have it. */
export function dataset(service: PageService): Resource {
  const { catalog, publicUrl, snapshots, setting, files } = service
  const { addresses, language } = setting
  return {
    ...pageAt(service, '/dataset/:dataset', 'Dataset'),
    find: ({ params, target }) => {
      const found = findDataset(catalog, params)
      parseQuery(target, [])
      const address = `${publicUrl.origin}${addresses.dataset(language, found)}`
      const today = new Date().toISOString().slice(0, 10)
      const ids = [...found.tables.values()].map(
        (table) => snapshots.current(table)?.manifest.snapshot ?? null,
      )
      return document(service, ['dataset', found.slug, ids, today], () =>
        datasetPage(setting, {
          dataset: found,
          current: (table) => snapshots.current(table),
          files,
          address,
          today,
        }),
      )
    },
  }
}
