import { createHash } from 'node:crypto'
import { foldText } from '../../../core/folding.ts'
import type { Manifest, StoredFile } from '../../../core/warehouse/manifest.ts'
import { publishedFiles } from '../files-of.ts'
import { publisherOf, type DatasetDescription, type TableDescription, type Writing } from '../description.ts'

export interface Package {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly notes: string
  readonly metadata_created: string
  readonly metadata_modified: string
  readonly license_id: string | null
  readonly license_title: string | null
  readonly organization: { readonly name: string; readonly title: string } & Readonly<Record<string, unknown>>
  readonly tags: readonly { readonly name: string; readonly [key: string]: unknown }[]
  readonly groups: readonly { readonly name: string; readonly [key: string]: unknown }[]
  readonly resources: readonly {
    readonly name: string
    readonly format: string
    readonly [key: string]: unknown
  }[]
  readonly [key: string]: unknown
}

export function packageOf(writing: Writing, { dataset, tables }: DatasetDescription): Package {
  const { slug, author, contact, source, license, frequency, spatial, temporal, language } = dataset
  const published = dataset.publisher ?? publisherOf(writing)
  const resources = tables.flatMap((view) => resourcesOf(writing, view, packageId(writing, slug)))
  const collectionTime = `${dataset.collectedAt}T00:00:00.000000`
  const moments = tables.flatMap(({ manifest }) => (manifest === null ? [] : [momentOf(manifest)])).toSorted()
  const extras = {
    ...(source !== null && { source: [source.name, source.url ?? []].flat().join(', ') }),
    collected_at: dataset.collectedAt,
    ...(frequency !== null && { frequency }),
    ...(spatial !== null && { spatial_text: spatial.name }),
    ...(spatial?.uri != null && { spatial_uri: spatial.uri }),
    ...(temporal !== null && { temporal_start: temporal.start }),
    ...(temporal?.end != null && { temporal_end: temporal.end }),
    ...(language.length > 0 && { language: JSON.stringify(language) }),
  }
  return {
    id: packageId(writing, slug),
    name: slug,
    title: dataset.name,
    notes: dataset.description,
    type: 'dataset',
    state: 'active',
    private: false,
    isopen: license !== null,
    url: writing.page('en', dataset),
    version: dataset.collectedAt,
    author: author?.name ?? null,
    author_email: null,
    maintainer: contact?.name ?? null,
    maintainer_email: contact?.email ?? null,
    license_id: license?.url ?? null,
    license_title: license?.name ?? null,
    license_url: license?.url ?? null,
    metadata_created: collectionTime,
    metadata_modified: moments.at(-1) ?? collectionTime,
    owner_org: idOf(`organization ${published.url}`),
    organization: {
      id: idOf(`organization ${published.url}`),
      name: nameOf(published.name),
      title: published.name,
      description: published.url,
      type: 'organization',
      is_organization: true,
      approval_status: 'approved',
      state: 'active',
      image_url: '',
      created: collectionTime,
    },
    tags: dataset.keywords.map((keyword) => ({
      id: idOf(`tag ${keyword}`),
      name: keyword,
      display_name: keyword,
      state: 'active',
      vocabulary_id: null,
    })),
    num_tags: dataset.keywords.length,
    groups: dataset.themes.map((theme) => ({
      id: idOf(`group ${theme}`),
      name: theme.toLowerCase(),
      title: theme,
      display_name: theme,
      description: '',
      image_display_url: '',
    })),
    extras: Object.entries(extras).map(([key, value]) => ({ key, value })),
    resources: resources.map((resource, position) => ({ ...resource, position })),
    num_resources: resources.length,
    relationships_as_object: [],
    relationships_as_subject: [],
    creator_user_id: null,
  }
}

type Resource = Package['resources'][number]

function resourcesOf(writing: Writing, view: TableDescription, owner: string): Resource[] {
  const files = publishedFiles(writing, view)
  if (files === null) return []
  const { table, dataset } = view
  const { manifest, download, addressOf } = files
  const moment = momentOf(manifest)
  const resource = (
    name: string,
    format: string,
    mimetype: string,
    url: string,
    file: StoredFile | null,
  ): Resource => ({
    id: idOf(`resource ${table.dataset}/${table.name}/${name}`),
    package_id: owner,
    name,
    description: table.description ?? '',
    format,
    mimetype,
    url,
    url_type: null,
    resource_type: file === null ? 'api' : 'file',
    size: file?.bytes ?? null,
    hash: file === null ? '' : `sha256:${file.sha256}`,
    state: 'active',
    created: moment,
    last_modified: moment,
    metadata_modified: moment,
    datastore_active: false,
  })
  return [
    resource(download.file, 'CSV', 'text/csv', writing.files.download(table), download),
    ...manifest.parts.map((part) =>
      resource(
        `${table.name}/${part.file}`,
        'Parquet',
        'application/vnd.apache.parquet',
        addressOf(part),
        part,
      ),
    ),
    resource(`${table.name} API`, 'JSON', 'application/json', writing.rows.data(dataset, table), null),
  ]
}

function packageId({ base }: Pick<Writing, 'base'>, slug: string): string {
  return idOf(`${base} ${slug}`)
}

/** UUID of version 8. */
function idOf(text: string): string {
  const hex = createHash('sha256').update(`acervo ${text}`).digest('hex')
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4] ?? '8'
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function momentOf({ import_date: moment }: Manifest): string {
  return moment.replace(/(\.\d{3})?Z$/, (_end, fraction: string | undefined) => `${fraction ?? '.000'}000`)
}

function nameOf(title: string): string {
  return (
    foldText(title)
      .replaceAll(/[^a-z0-9_-]+/g, '-')
      .replaceAll(/^-+|(?<!-)-+$/g, '')
      .slice(0, 100) || 'organization'
  )
}
