import type { Runtime } from './runtime.ts'
import type { RequestHandler, Router } from 'express'
import { tableId, type Catalog, type Dataset, type Table } from '../../core/catalog/catalog.ts'
import { isSnapshotId, fileNames, layout } from '../../core/warehouse/layout.ts'
import type { StoredFile } from '../../core/warehouse/manifest.ts'
import { contentName, type NamedResponse } from '../http/responder.ts'
import { fileLinks } from '../documents/links.ts'
import type { Writing } from '../documents/description.ts'
import { fileAddresses, parsePartName, type FileAddresses } from '../http/addresses.ts'
import { sendFile, type ServedFile } from '../http/files.ts'
import { accountFor } from '../http/limits.ts'
import { jsonOffer, negotiate } from '../http/negotiation.ts'
import { Problem } from '../http/problems.ts'
import { absolutePath, sendRedirect } from '../http/redirect.ts'
import { jsonType, sendText } from '../http/send.ts'
import { parseQuery } from '../query/parameters.ts'
import { mount, mountHandler, type Resource, type Serving } from '../http/resource.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { currentView } from './documents/service.ts'
import { findDataset, findTable, goneText, notPublished, type RouteParameters } from './find.ts'

type FileService = Runtime & { readonly writing: Writing }

/** Stable addresses redirect to immutable ones, which contain a snapshot. Nothing here queries DuckDB. */
export function mountFiles(router: Router, service: FileService, serving: Serving): void {
  const { catalog, freshness, views } = service
  const serve = (path: string, texts: ReturnType<typeof resourceTexts>, handler: RequestHandler): void =>
    mountHandler(router, path, { ...texts, countsAs: 'files' }, handler)
  serve(
    '/warehouse.duckdb',
    resourceTexts('Warehouse', 'A DuckDB file with a view of each table, and macros for its versions.'),
    async (req, res) => {
      const builtViews = await views.current()
      const servedFile: ServedFile = {
        ...builtViews,
        isUnchanged: () => true,
        onMismatch: views.forget,
        saveAs: 'warehouse.duckdb',
        mediaType: 'application/vnd.duckdb',
        cacheControl: freshness.changing,
      }
      await sendFile(req, res, servedFile, service.client(req), service)
    },
  )
  serve(
    '/:dataset/SHA512SUMS',
    resourceTexts('Check Sums', 'SHA-512 sums of the files of a dataset.'),
    checkSums(service),
  )
  serve(
    '/:dataset/:table.csv.gz',
    resourceTexts('Full Download', 'All rows of a table as gzipped CSV.'),
    redirectToDownload(service),
  )
  serve(
    '/:dataset/:table.parquet',
    resourceTexts('Parquet', 'All rows of a table as Parquet, or one of several parts.'),
    redirectToParquet(service),
  )
  serve('/:dataset/:table/:snapshot/:file', resourceTexts('File', 'A file of a snapshot.'), fileOf(service))
  const hasFinalSlash = true
  mount(router, datasetListing(service, catalog), hasFinalSlash, serving)
  mount(router, tableListing(service, catalog), hasFinalSlash, serving)
}

function resourceTexts(name: string, description: string): { name: string; description: string } {
  return { name, description }
}

const mediaTypes = {
  '.parquet': 'application/vnd.apache.parquet',
  '.csv.gz': 'application/gzip',
  '.json': 'application/json',
} as const

function mediaTypeOf(file: string): string {
  const type = Object.entries(mediaTypes).find(([end]) => file.endsWith(end))
  return type?.[1] ?? 'application/octet-stream'
}

/** The download of all rows comes first. */
export function publicFiles({ table, manifest }: Snapshot): StoredFile[] {
  const download = fileNames.download(table)
  return [
    ...manifest.files.filter(({ file }) => file === download),
    ...manifest.parts,
    ...manifest.files.filter(({ file }) => file !== download),
  ]
}

function tableListing(service: FileService, catalog: Catalog): Resource {
  const addresses = fileAddresses(service.publicUrl)
  return listingOf(service, '/:dataset/:table', 'Table Files', (params) => {
    const table = findTable(findDataset(catalog, params), params)
    const snapshot = service.snapshots.current(table)
    if (snapshot === null) throw notPublished(table, service.snapshots.fault(table))
    return listingEntry(snapshot, addresses)
  })
}

function datasetListing(service: FileService, catalog: Catalog): Resource {
  const addresses = fileAddresses(service.publicUrl)
  return listingOf(service, '/:dataset', 'Dataset Files', (params) => {
    const dataset = findDataset(catalog, params)
    const tables = currentOf(service, dataset).map((snapshot) => listingEntry(snapshot, addresses))
    return { dataset: dataset.slug, sums: addresses.sums(dataset), tables }
  })
}

function listingOf(
  { freshness }: FileService,
  path: string,
  name: string,
  findListing: (params: RouteParameters) => object,
): Resource {
  return {
    path,
    name,
    description: 'The current files: names, addresses, sizes and SHA-512 sums.',
    find: ({ params, target, headers }): NamedResponse => {
      negotiate(headers, parseQuery(target, ['format']).get('format'), [jsonOffer])
      const text = JSON.stringify(findListing(params))
      return {
        name: contentName(text),
        cacheControl: freshness.changing,
        mediaType: jsonType,
        headers: {},
        isAtHand: true,
        body: () => ({ pieces: [text] }),
      }
    },
  }
}

function currentOf({ snapshots }: FileService, dataset: Dataset): Snapshot[] {
  return [...dataset.tables.values()].flatMap((table) => snapshots.current(table) ?? [])
}

function listingEntry(snapshot: Snapshot, addresses: FileAddresses) {
  const { table, manifest } = snapshot
  return {
    table: table.name,
    snapshot: manifest.snapshot,
    import_date: manifest.import_date,
    rows: manifest.rows,
    files: publicFiles(snapshot).map(({ file, bytes, sha512 }) => ({
      name: file,
      address: addresses.file(table, manifest.snapshot, file),
      bytes,
      sha512,
      media_type: mediaTypeOf(file),
    })),
  }
}

/** SHA-512 for `sha512sum -c`: downloads by stable names, other files by paths with the snapshot. */
function checkSums(service: FileService): RequestHandler {
  return async (req, res) => {
    const dataset = findDataset(service.catalog, req.params)
    await accountFor(res).spend()
    const lines = currentOf(service, dataset).flatMap((snapshot) => {
      const { table, manifest } = snapshot
      return publicFiles(snapshot).map(({ file, sha512 }) => {
        const isDownload = file === fileNames.download(table)
        return `${sha512}  ${isDownload ? file : `${table.name}/${manifest.snapshot}/${file}`}\n`
      })
    })
    res.setHeader('Cache-Control', service.freshness.changing)
    sendText(res, lines.join(''))
  }
}

function redirectToDownload(service: FileService): RequestHandler {
  const addresses = fileAddresses(service.publicUrl)
  return async (req, res) => {
    const table = findTable(findDataset(service.catalog, req.params), req.params)
    await accountFor(res).spend()
    const snapshot = service.snapshots.current(table)
    if (snapshot === null) throw notPublished(table, service.snapshots.fault(table))
    const address = addresses.file(table, snapshot.manifest.snapshot, fileNames.download(table))
    sendRedirect(res, 302, absolutePath(address), service.freshness.changing)
  }
}

function redirectToParquet(service: FileService): RequestHandler {
  const addresses = fileAddresses(service.publicUrl)
  return async (req, res) => {
    const dataset = findDataset(service.catalog, req.params)
    const name = String(req.params['table'])
    const {
      table: tableName,
      index,
      count,
    } = dataset.tables.has(name) ? { table: name, index: 0, count: 1 } : parsePartName(name)
    const table = findTable(dataset, { table: tableName })
    await accountFor(res).spend()
    const snapshot = service.snapshots.current(table)
    if (snapshot === null) throw notPublished(table, service.snapshots.fault(table))
    const { parts, snapshot: id } = snapshot.manifest
    const part = parts[index]
    // Refuse names with another number of parts: clients would miss rows, or read some twice.
    if (part === undefined || parts.length !== count) {
      const detail = `${tableId(table)} has ${parts.length} Parquet files: ${addresses.listing(table)} lists them.`
      throw new Problem('unknown-address', detail)
    }
    sendRedirect(res, 302, absolutePath(addresses.file(table, id, part.file)), service.freshness.changing)
  }
}

function stableAddress(
  addresses: FileAddresses,
  { table, manifest: { parts } }: Snapshot,
  file: unknown,
): string | null {
  if (file === fileNames.download(table)) return addresses.download(table)
  return parts.length === 1 && file === parts[0]?.file ? addresses.parquet(table, 0, 1) : null
}

/** Sends a file of a snapshot, or redirects to the store, or after expiry to the current file. */
function fileOf(service: FileService): RequestHandler {
  const addresses = fileAddresses(service.publicUrl)
  return async (req, res) => {
    const params: RouteParameters = req.params
    const table = findTable(findDataset(service.catalog, params), params)
    const id = String(params['snapshot'])
    if (!isSnapshotId(id)) throw unknownFile(table, addresses)
    await service.snapshots.use(table, id, async (snapshot) => {
      if (snapshot === null) {
        const listingAddress = addresses.listing(table)
        const current = service.snapshots.current(table)
        const stableFileAddress = current === null ? null : stableAddress(addresses, current, params['file'])
        const hasExpired =
          current !== null && id < current.manifest.snapshot && !service.snapshots.isKept(table, id)
        // After a redirect, a request for a range would combine bytes of two files.
        if (stableFileAddress !== null && hasExpired && req.headers.range === undefined) {
          await accountFor(res).spend()
          res.setHeader(
            'Acervo-Moved',
            `the snapshot ${id} is no longer kept; this redirects to the current one`,
          )
          sendRedirect(res, 302, absolutePath(stableFileAddress), service.freshness.changing)
          return
        }
        const detail = `${goneText(table, id, service.snapshots)}; the current files are at ${listingAddress}.`
        throw new Problem('snapshot-gone', detail, {
          headers: { Link: `<${listingAddress}>; rel="latest-version"` },
        })
      }
      const match = publicFiles(snapshot).find(({ file }) => file === params['file'])
      if (match === undefined) throw unknownFile(table, addresses)
      const { filesUrl } = service
      if (filesUrl !== '') {
        await accountFor(res).spend()
        const key = `${layout.snapshot(table, id)}/${match.file}`
        // The bytes never change, but the address of the store may.
        sendRedirect(res, 302, `${filesUrl.replace(/\/$/, '')}/${key}`, service.freshness.changing)
        return
      }
      const view = currentView(findDataset(service.catalog, params), table, snapshot)
      res.setHeader('Link', fileLinks(service.writing, view, match.file))
      const servedFile: ServedFile = {
        folder: snapshot.folder,
        file: match.file,
        sha256: match.sha256,
        bytes: match.bytes,
        lastModified: snapshot.lastModified,
        isUnchanged: () => snapshot.isUnchanged(match.file),
        keepOpen: () => snapshot.pin([match.file]),
        onMismatch: snapshot.recheck,
        mediaType: mediaTypeOf(match.file),
        cacheControl: service.freshness.immutable,
        saveAs: match.file.startsWith(table.name) ? match.file : `${table.name}-${match.file}`,
      }
      await sendFile(req, res, servedFile, service.client(req), service)
    })
  }
}

function unknownFile(table: Table, addresses: FileAddresses): Problem {
  return new Problem(
    'unknown-address',
    `There is no such file; those of ${tableId(table)} are at ${addresses.listing(table)}.`,
  )
}
