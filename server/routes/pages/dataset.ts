import type { Dataset } from '../../../core/catalog/catalog.ts'
import { schemaOrgOf } from '../../documents/dataset/schema-org.ts'
import { linkHeader, signposts } from '../../documents/links.ts'
import { describing } from '../../documents/registry.ts'
import type { Resource } from '../../http/resource.ts'
import { bibtex, type Cited } from '../../pages/cite.ts'
import { datasetPage } from '../../pages/dataset.ts'
import { filesPage, type TableFiles } from '../../pages/files.ts'
import type { TableTruth } from '../../pages/truth.ts'
import { parseQuery } from '../../query/parameters.ts'
import { publicFiles } from '../files.ts'
import { datasetView } from '../documents/service.ts'
import { findDataset } from '../find.ts'
import { document, pageAt, textFile, type PageService } from './documents.ts'

/** What a dataset is, whose, how fresh, and how to have it. */
export function datasetHome(service: PageService): Resource {
  const { catalog, snapshots, setting, files, writing } = service
  return {
    ...pageAt(service, '/dataset/:dataset', 'Dataset'),
    find: async ({ params, target }) => {
      const found = findDataset(catalog, params)
      parseQuery(target, [])
      const cited = citedIn(service, found)
      const truths = await truthsOf(service, found)
      const key = [cited.today, truths.map(({ manifest, looked }) => [manifest.snapshot, looked])]
      const view = datasetView(snapshots, found)
      const answer = document(service, ['dataset', found.slug, ...key], () =>
        datasetPage(setting, {
          ...cited,
          truths,
          files,
          current: (table) => snapshots.current(table),
          data: schemaOrgOf(writing, view, setting.language),
          feed: writing.documents.datasetFeed(found),
        }),
      )
      const whole = writing.documents.ofDataset(found, 'linkset.json')
      const Link = linkHeader(signposts(writing, view, setting.language, describing), whole)
      return { ...answer, headers: { ...answer.headers, Link } }
    },
  }
}

/** How a dataset is cited, as BibTeX. */
export function citationFile(service: PageService): Resource {
  return {
    ...pageAt(service, '/dataset/:dataset/cite.bib', 'Citation'),
    find: ({ params, target }) => {
      const cited = citedIn(service, findDataset(service.catalog, params))
      parseQuery(target, [])
      const key = ['citation', cited.dataset.slug, cited.today]
      return textFile(service, key, 'application/x-bibtex; charset=utf-8', () => bibtex(cited))
    },
  }
}

/** All files of a dataset, and its earlier versions. */
export function datasetFiles(service: PageService): Resource {
  const { catalog, snapshots, setting, files } = service
  return {
    ...pageAt(service, '/files/:dataset', 'Files'),
    find: async ({ params, target }) => {
      const found = findDataset(catalog, params)
      parseQuery(target, [])
      const tables: TableFiles[] = []
      for (const table of found.tables.values()) {
        const snapshot = snapshots.current(table)
        if (snapshot === null) continue
        const earlier = await snapshots.earlier(table)
        tables.push({ table, manifest: snapshot.manifest, files: publicFiles(snapshot), earlier })
      }
      const ids = tables.map(({ manifest, earlier }) =>
        [manifest, ...earlier].map(({ snapshot }) => snapshot),
      )
      return document(service, ['files', found.slug, ids], () =>
        filesPage(setting, { dataset: found, tables, files }),
      )
    },
  }
}

function citedIn({ publicUrl, setting: { addresses, language } }: PageService, dataset: Dataset): Cited {
  return {
    dataset,
    address: `${publicUrl.origin}${addresses.dataset(language, dataset)}`,
    today: new Date().toISOString().slice(0, 10),
  }
}

async function truthsOf({ snapshots }: PageService, dataset: Dataset): Promise<TableTruth[]> {
  const truths: TableTruth[] = []
  for (const table of dataset.tables.values()) {
    const snapshot = snapshots.current(table)
    if (snapshot === null) continue
    const { manifest, report } = snapshot
    truths.push({ table, manifest, report, looked: await snapshots.looked(table) })
  }
  return truths
}
