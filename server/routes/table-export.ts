import type { Runtime } from './runtime.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Family, Table } from '../../core/catalog/catalog.ts'
import { fileNames } from '../../core/warehouse/layout.ts'
import { addressesOf, fileAddresses, withQuery, type FileAddresses } from '../http/addresses.ts'
import { documentAddresses } from '../documents/addresses.ts'
import { csvw } from '../documents/table/csvw.ts'
import { contentName } from '../http/responder.ts'
import { rangeOf } from '../http/range.ts'
import { matchingTag, acceptedEncodings, negotiate, type Offer } from '../http/negotiation.ts'
import { sendFile, type ServedFile } from '../http/files.ts'
import { disconnectSignal, afterFirstChunk, sendNotModified, sendStream } from '../http/send.ts'
import { queryTooCostly, Problem, unacceptableParameters } from '../http/problems.ts'
import { absolutePath, sendRedirect } from '../http/redirect.ts'
import type { Resource, ResourceRequest } from '../http/resource.ts'
import { sendUnpacked } from '../http/unpacked.ts'
import { areDeclared } from '../query/parameters.ts'
import { parseRowQuery, type RowQuery } from '../query/query.ts'
import { exportChunks, workOfExport, readAheadBytes } from '../table/representations/export.ts'
import { hintHeader, queryKey } from '../table/representations/page.ts'
import { rowForm, type RowFormat } from '../formats/format.ts'
import { csvFormat } from '../formats/csv.ts'
import { rowFormats } from '../formats/registry.ts'
import { isWholeTable } from '../table/selection/selections.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { fileNameOf } from './file-name.ts'
import { findDataset, findTable, unavailable, requesterOf } from './find.ts'
import { problemOf } from './problem-of.ts'

/** Parquet comes only from existing files. */
const parquet = { name: 'parquet', mediaTypes: ['application/vnd.apache.parquet'] } as const satisfies Offer

type ExportFormat = RowFormat | typeof parquet
const formats: readonly [ExportFormat, ...ExportFormat[]] = [
  csvFormat,
  ...rowFormats.filter((format) => format !== csvFormat),
  parquet,
]

/** All rows of a query as a stream. The whole table as CSV or Parquet comes from existing files. */
export function tableExport(family: Family, service: Runtime): Resource {
  const { catalog, publicUrl, snapshots } = service
  const [addresses, files] = [addressesOf(family, publicUrl), fileAddresses(publicUrl)]
  return {
    path: '/dataset/:dataset/:table/export',
    name: 'Table Export',
    description: `All rows of a query as one stream. ${catalog.notice}`,
    countsAs: 'exports',
    offers: formats,
    respond: async (request, req, res) => {
      const dataset = findDataset(catalog, request.params)
      const table = findTable(dataset, request.params)
      const query = parseRowQuery(table, request.target, ['page', 'page_size'])
      const format = negotiate(request.headers, query.format, formats)
      const pinned = query.snapshot === 'current' ? null : query.snapshot
      await snapshots.use(table, pinned, async (snapshot) => {
        if (snapshot === null) {
          const current = snapshots.current(table)
          const newest = new Map([...query.parameters, ['snapshot', current?.manifest.snapshot ?? 'current']])
          throw unavailable(table, pinned, snapshots, withQuery(addresses.export(dataset, table), newest, 1))
        }
        const isAll = isWholeTable(snapshot, query) && areDeclared(table, query.columns)
        if (isAll && format === csvFormat) {
          await sendDownload(snapshot, service, request, req, res)
          return
        }
        if (!('contentType' in format)) {
          if (!isAll) throw noParquet(files.listing(table))
          sendRedirect(res, 302, absolutePath(parquetOf(snapshot, files)), service.freshness.changing)
          return
        }
        await streamRows(snapshot, query, format, service, request, req, res)
      })
    },
  }
}

async function streamRows(
  snapshot: Snapshot,
  query: RowQuery,
  format: RowFormat,
  service: Runtime,
  request: ResourceRequest,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { account, client } = request
  const { engine, publicUrl, pageBytesMax, freshness } = service
  const { table, manifest } = snapshot
  const downloadUrl = fileAddresses(publicUrl).download(table)
  const requester = requesterOf(request, disconnectSignal(res), pageBytesMax)
  const form = rowForm(table, format, query)
  const tag = `"${contentName(`export\n${queryKey(snapshot, form, query)}`)}"` as const
  const isPinned = query.snapshot !== null && query.snapshot !== 'current'
  const describe = (): void => {
    res.setHeader('ETag', tag)
    res.setHeader('Cache-Control', isPinned ? freshness.immutable : freshness.changing)
    res.setHeader('Acervo-Snapshot', manifest.snapshot)
    res.setHeader('Link', `<${downloadUrl}>; rel="alternate"; type="application/gzip"`)
  }
  if (matchingTag(req.headers['if-none-match'], [tag]) !== null) {
    describe()
    sendNotModified(res)
    return
  }
  const selection = await engine.selections
    .find({ snapshot, filter: query, requester })
    .catch((error: unknown) => {
      throw problemOf(error, downloadUrl)
    })
  if (selection.count > table.exportRowsMax) throw tooMany(table, selection.count, downloadUrl)
  const describeRows = (): void => {
    describe()
    res.setHeader('Acervo-Count', selection.count)
    for (const [name, text] of Object.entries(hintHeader(selection.hints))) res.setHeader(name, text)
    res.setHeader('Content-Type', format.contentType)
    res.setHeader(
      'Content-Disposition',
      `attachment; filename="${fileNameOf(snapshot, query, format.ending)}"`,
    )
  }
  const exported = { snapshot, query, form, selection }
  // The export is charged as a whole, so its batches are not charged again.
  const paid = { ...requester, pay: async () => undefined }
  const wantsLength = req.method === 'HEAD' || req.headers.range !== undefined
  if (wantsLength && service.finished.fits(selection.count * snapshot.rowBytes)) {
    const known = service.finished.find(tag)
    if (known === null) await account.spend(workOfExport(exported))
    const finishedExport =
      known ??
      (await service.exports.during(client, paid.signal(), () =>
        service.finished.make(tag, paid.signal(), (stop) =>
          afterFirstChunk(exportChunks(exported, engine, { ...paid, signal: () => stop })),
        ),
      ))
    if (finishedExport !== null) {
      try {
        describeRows()
        const { start, end } = rangeOf(req, res, tag, finishedExport.bytes)
        const isHead = req.method === 'HEAD'
        if (known !== null) await account.spend(isHead ? {} : { fileBytes: end + 1 - start })
        if (isHead) res.end()
        else {
          const chunks = service.finished.read(finishedExport, start, end)
          await service.transfers.during(client, paid.signal(), (slot) =>
            sendStream(res, chunks, service.sendBudget, { slot }),
          )
        }
      } finally {
        service.finished.release(finishedExport)
      }
      return
    }
  } else await account.spend(req.method === 'HEAD' ? {} : workOfExport(exported))
  if (req.method === 'HEAD') {
    describeRows()
    res.end()
    return
  }
  requireChunks(req)
  await service.exports.during(client, paid.signal(), async (slot) => {
    service.sendBudget.requireRoom()
    const chunks = await afterFirstChunk(exportChunks(exported, engine, paid))
    describeRows()
    const trailers = { 'Acervo-Rows': String(selection.count) }
    await sendStream(res, chunks, service.sendBudget, { trailers, slot, readAheadBytes })
  })
}

/** Sends all rows as CSV from the existing gzip file, uncompressed to clients that do not accept gzip. */
async function sendDownload(
  snapshot: Snapshot,
  service: Runtime,
  { client, account }: ResourceRequest,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { table, manifest, folder, report } = snapshot
  const { freshness, publicUrl } = service
  const download = manifest.files.find(({ file }) => file === fileNames.download(table))
  if (download === undefined) throw new Error('snapshot has no download')
  const served: ServedFile = {
    folder,
    file: download.file,
    sha256: download.sha256,
    bytes: download.bytes,
    mediaType: csvFormat.contentType,
    cacheControl: freshness.changing,
    saveAs: fileNameOf(snapshot, { parameters: new Map() }, csvFormat.ending),
    isUnchanged: () => snapshot.isUnchanged(download.file),
    hold: () => snapshot.pin([download.file]),
    doubt: snapshot.recheck,
  }
  res.setHeader('Acervo-Snapshot', manifest.snapshot)
  res.setHeader('Acervo-Count', manifest.rows)
  const columns = documentAddresses(publicUrl).ofTable(table, csvw.file)
  res.setHeader('Link', `<${columns}>; rel="describedby"; type="${csvw.contentType}"`)
  const sections = report?.download_sections ?? null
  const acceptsGzip = acceptedEncodings(req.headers['accept-encoding']).some(({ name }) => name === 'gzip')
  // Clients that unpack a response may stop after the first of several gzip members.
  account.countsAs = 'files'
  if (acceptsGzip && sections !== null) {
    await sendFile(req, res, { ...served, contentEncoding: 'gzip' }, client, service)
    return
  }
  const tag = `"${download.sha256.slice(0, 32)}-unpacked"` as const
  res.setHeader('ETag', tag)
  res.setHeader('Cache-Control', freshness.changing)
  if (matchingTag(req.headers['if-none-match'], [tag]) !== null) {
    sendNotModified(res)
    return
  }
  await account.spend(req.method === 'HEAD' ? {} : { fileBytes: manifest.textBytes })
  if (sections === null) requireChunks(req)
  res.setHeader('Content-Type', served.mediaType)
  res.setHeader('Content-Disposition', `attachment; filename="${served.saveAs}"`)
  await sendUnpacked(req, res, { ...served, tag, sections }, client, service)
}

/** Returns the address of the Parquet file if there is exactly one; else that of the file listing. */
function parquetOf({ table, manifest }: Snapshot, files: FileAddresses): string {
  const [part, other] = manifest.parts
  return part !== undefined && other === undefined
    ? files.file(table, manifest.snapshot, part.file)
    : files.listing(table)
}

function noParquet(listing: string): Problem {
  const message = `The parameter "format" may be parquet only for all rows and fields; their files: ${listing}.`
  return unacceptableParameters([{ parameter: 'format', message }])
}

function tooMany({ exportRowsMax }: Table, count: number, downloadUrl: string): Problem {
  const [rows, maxRows] = [count, exportRowsMax].map((number) => number.toLocaleString('en'))
  return queryTooCostly(
    `The query has ${rows ?? ''} rows, but an export may have at most ${maxRows ?? ''}: add a condition.`,
    downloadUrl,
  )
}

/** Requires chunked encoding: without it, a broken transfer looks complete. */
function requireChunks({ httpVersion }: IncomingMessage): void {
  if (httpVersion !== '1.0') return
  throw new Problem(
    'http-version',
    'An export needs HTTP/1.1, which shows whether it is complete; in nginx, set proxy_http_version 1.1.',
  )
}
