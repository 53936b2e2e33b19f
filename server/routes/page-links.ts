import { withQuery } from '../http/addresses.ts'
import type { Offer } from '../http/negotiation.ts'
import type { QueryParameters } from '../query/string.ts'
import type { PageLinks } from '../table/representations/envelope.ts'

/**
 * @param address of the rows, without a query
 * @param parameters of the query in their one way of writing
 * @param format as `parameters` have it; the others are offered beside it
 */
export function pageLinks(
  address: string,
  parameters: QueryParameters,
  format: Offer,
  offers: readonly Offer[],
  wholeFile: string,
): PageLinks {
  return {
    to: (page) => withQuery(address, parameters, page),
    alternates: (page) =>
      offers
        .filter(({ name }) => name !== format.name)
        .map(({ name, mediaTypes: [mediaType] }) => ({
          address: withQuery(address, new Map([...parameters, ['format', name]]), page),
          mediaType,
        })),
    wholeFile,
  }
}
