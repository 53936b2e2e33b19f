import { languages } from '../../../core/catalog/names.ts'
import type { WholeDocument } from '../document.ts'
import { element, xmlHead, xmlText } from '../xml.ts'

const [shortMax, descriptionMax] = [16, 1024]

/** Search of the catalog for browsers (OpenSearch 1.1). */
export const openSearch: WholeDocument = {
  file: 'opensearch.xml',
  name: 'OpenSearch',
  description: 'Search description for browsers.',
  contentType: 'application/opensearchdescription+xml',
  write: ({ catalog, page }) => {
    const description = catalog.description === '' ? catalog.title : catalog.description
    const content = [
      element('ShortName', xmlText(Array.from(catalog.title).slice(0, shortMax).join(''))),
      element('Description', xmlText(Array.from(description).slice(0, descriptionMax).join(''))),
      element('InputEncoding', 'UTF-8'),
      ...languages.map((language) =>
        element('Url', '', { type: 'text/html', template: `${page(language)}?q={searchTerms}` }),
      ),
      ...languages.map((language) => element('Language', language)),
    ]
    return (
      xmlHead +
      element('OpenSearchDescription', content.join(''), { xmlns: 'http://a9.com/-/spec/opensearch/1.1/' })
    )
  },
}
