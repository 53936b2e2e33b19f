import type { WholeDocument } from '../document.ts'

/** APIs and their descriptions (RFC 9727). */
export const apiCatalog: WholeDocument = {
  file: '.well-known/api-catalog',
  name: 'API Catalog',
  description: 'Addresses and descriptions of the APIs.',
  contentType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  write: ({ catalog, base, documents, page }) => {
    const apis = catalog.families.map(({ prefix }) => `${base}${prefix}`)
    const docs = [...catalog.inLanguage.keys()].map((language) => ({
      href: `${page(language)}reference/`,
      type: 'text/html',
      hreflang: [language],
    }))
    return JSON.stringify({
      linkset: [
        {
          anchor: documents.ofService('.well-known/api-catalog'),
          item: apis.map((href) => ({ href: `${href}/` })),
        },
        ...apis.map((api) => ({
          anchor: `${api}/`,
          'service-desc': [json(`${api}/openapi.json`)],
          'service-doc': docs,
          'service-meta': [json(documents.catalog('jsonld'), 'application/ld+json')],
          status: [json(`${base}/health`)],
        })),
      ],
    })
  },
}

const json = (href: string, type = 'application/json') => ({ href, type })
