import { catalogPage, catalogPageSize } from '../../documents/dcat.ts'
import { sitemapFiles, sitemapOf, sitemapPart } from '../../documents/whole/sitemap.ts'
import { acceptable, type Offer } from '../../http/negotiation.ts'
import { Problem } from '../../http/problems.ts'
import type { Resource } from '../../http/resource.ts'
import { InvalidPage } from '../../query/errors.ts'
import { parsePage } from '../../query/query.ts'
import { parseQuery } from '../../query/parameters.ts'
import { offerOf } from './metadata.ts'
import { describeDataset, datasetViews, documentResponse, type DocumentService } from './service.ts'

interface Form extends Offer {
  readonly ending: 'jsonld' | 'ttl'
}
const jsonLd: Form = { ...offerOf('application/ld+json'), ending: 'jsonld' }
const turtle: Form = { ...offerOf('text/turtle; charset=utf-8'), name: 'turtle', ending: 'ttl' }

/** DCAT-AP in pages; without an extension, `Accept` selects the format. */
export function dcatCatalog(ending: 'jsonld' | 'ttl' | null, service: DocumentService): Resource {
  const { catalog, snapshots, writing } = service
  const offers: readonly [Form, ...Form[]] = [jsonLd, turtle]
  const shownDatasets = [...catalog.datasets.values()].filter(({ listedIn }) => listedIn.size > 0)
  const pages = Math.max(1, Math.ceil(shownDatasets.length / catalogPageSize))
  return {
    path: `/catalog${ending === null ? '' : `.${ending}`}`,
    name: 'DCAT-AP Catalog',
    description: 'All datasets for harvesters, as DCAT-AP 3.',
    offers: ending === null ? offers : offers.filter((offer) => offer.ending === ending),
    find: ({ target, headers }) => {
      const requestedPage = parsePage(parseQuery(target, ['page']).get('page'))
      const page = requestedPage === 'last' ? pages : requestedPage
      if (page > pages) throw new InvalidPage()
      const chosenEnding = ending ?? acceptable(headers, offers)?.ending
      if (chosenEnding === undefined) {
        throw new Problem(
          'not-acceptable',
          'The Accept header excludes the available types: JSON-LD and Turtle.',
        )
      }
      const pageDatasets = shownDatasets.slice((page - 1) * catalogPageSize, page * catalogPageSize)
      const descriptor = {
        key: ['dcat', chosenEnding, String(page)],
        tables: pageDatasets.flatMap(({ tables }) => [...tables.values()]),
      }
      const contentType = chosenEnding === 'ttl' ? 'text/turtle; charset=utf-8' : 'application/ld+json'
      return documentResponse(service, descriptor, contentType, () => {
        const datasets = pageDatasets.map((dataset) => describeDataset(snapshots, dataset))
        return catalogPage(writing, {
          page,
          pages,
          datasets,
          count: shownDatasets.length,
          ending: chosenEnding,
        })
      })
    },
  }
}

const xml = 'application/xml; charset=utf-8'

export function sitemap(service: DocumentService): Resource {
  return {
    path: '/sitemap.xml',
    name: 'Sitemap',
    description: 'Sitemap of all HTML pages.',
    offers: [offerOf(xml)],
    find: ({ target }) => {
      parseQuery(target, [])
      return documentResponse(service, { key: ['sitemap'], tables: null }, xml, () =>
        sitemapOf(service.writing, datasetViews(service)),
      )
    },
  }
}

export function sitemapFile(service: DocumentService): Resource {
  let [countedVersion, count] = [-1, 0]
  // Counted again only when snapshots change, since there may be many thousand pages.
  const countFiles = (): number => {
    if (countedVersion !== service.snapshots.version)
      count = sitemapFiles(service.writing, datasetViews(service))
    countedVersion = service.snapshots.version
    return count
  }
  return {
    path: '/sitemap-:number.xml',
    name: 'Sitemap Part',
    description: 'Part of the sitemap of HTML pages.',
    offers: [offerOf(xml)],
    find: ({ params, target }) => {
      parseQuery(target, [])
      const number = String(params['number'])
      if (!/^[1-9]\d{0,3}$/.test(number) || Number(number) > countFiles()) throw noSuchPart()
      return documentResponse(service, { key: ['sitemap', number], tables: null }, xml, () => {
        const part = sitemapPart(service.writing, datasetViews(service), Number(number))
        if (part !== null) return part
        throw noSuchPart()
      })
    },
  }
}

function noSuchPart(): Problem {
  return new Problem('unknown-address', 'The sitemap has no such part; see /sitemap.xml.')
}
