import type { Dataset } from '../../core/catalog/catalog.ts'
import type { Addresses } from '../http/addresses.ts'

/** Properties of the list and the detail (spec: Dataset summary). */
export function summaryOf(dataset: Dataset, addresses: Addresses) {
  return {
    author_name: dataset.author?.name ?? null,
    author_url: dataset.author?.url ?? null,
    code_url: dataset.codeUrl,
    description: dataset.description,
    id: addresses.dataset(dataset),
    license_name: dataset.license?.name ?? null,
    license_url: dataset.license?.url ?? null,
    name: dataset.name,
    slug: dataset.slug,
    source_name: dataset.source?.name ?? null,
    source_url: dataset.source?.url ?? null,
  }
}
