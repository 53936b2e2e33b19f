import { allTables, tableId } from '../../../core/catalog/catalog.ts'
import { openApi, tableOpenApi, type OpenApiOptions } from '../../documents/openapi/openapi.ts'
import type { Resource } from '../../http/resource.ts'
import { timed } from '../../http/responder.ts'
import { referencePage } from '../../pages/reference.ts'
import { trailTo } from '../../pages/table/tabs.ts'
import { parseQuery } from '../../query/parameters.ts'
import { tableView } from '../documents/service.ts'
import { findDataset, findTable } from '../find.ts'
import { named, pageAt, rowAddresses, type PageService } from './documents.ts'
import { textOf, type Html } from '../../pages/html.ts'

/** All that may be asked of the service, but for what tables have of their own. */
export function reference(service: PageService): Resource {
  const { catalog, setting, writing } = service
  const { addresses, language, words } = setting
  return {
    ...pageAt(service, '/reference', 'Reference'),
    find: ({ target }) => {
      parseQuery(target, [])
      return {
        ...named(service, ['reference']),
        body: () => {
          const options = optionsOf(service)
          const page = (): Html =>
            referencePage(setting, {
              title: words.reference,
              document: openApi(writing, [], options),
              address: options.addresses.list.replace(/datasets\/?$/, 'openapi.json'),
              others: allTables(catalog).map((table) => ({
                name: tableId(table),
                address: addresses.reference(language, table),
              })),
              inLanguage: (other) => addresses.reference(other),
              trail: [{ name: words.home, address: addresses.home(language) }],
            })
          return timed(() => textOf(page()))
        },
      }
    },
  }
}

/** All that may be asked of a table. */
export function tableReference(service: PageService): Resource {
  const { catalog, setting, writing, snapshots } = service
  const { addresses, words } = setting
  return {
    ...pageAt(service, '/dataset/:dataset/:table/reference', 'Table Reference'),
    find: ({ params, target }) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      parseQuery(target, [])
      const snapshot = snapshots.current(table)?.manifest.snapshot
      return {
        ...named(service, ['reference', tableId(table), snapshot]),
        body: async () => {
          const options = optionsOf(service)
          const described = await tableView(snapshots, dataset, table)
          const page = (): Html =>
            referencePage(setting, {
              title: `${words.reference}: ${dataset.name}, ${table.name}`,
              document: tableOpenApi(writing, described, options),
              address: options.tableDocument(dataset, table),
              others: [],
              inLanguage: (other) => addresses.reference(other, table),
              trail: trailTo(setting, dataset, table),
            })
          return timed(() => textOf(page()))
        },
      }
    },
  }
}

function optionsOf(service: PageService): OpenApiOptions {
  const addresses = rowAddresses(service)
  return {
    addresses,
    tableDocument: (dataset, table) => `${addresses.table(dataset, table).replace(/\/$/, '')}/openapi.json`,
  }
}
