import type { Runtime } from './runtime.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CatalogTexts, Dataset, Family, Table } from '../../core/catalog/catalog.ts'
import type { Language } from '../../core/catalog/names.ts'
import { fileNames } from '../../core/warehouse/layout.ts'
import { addressesOf, fileAddresses, withQuery, type FileAddresses } from '../http/addresses.ts'
import { documentAddresses } from '../documents/addresses.ts'
import { csvw } from '../documents/table/csvw.ts'
import { defaultTexts, workbookOf } from '../documents/workbook.ts'
import { contentName } from '../http/responder.ts'
import { beginRange } from '../http/range.ts'
import { matchingTag, acceptedEncodings, negotiate, type Offer } from '../http/negotiation.ts'
import { sendFile, type ServedFile } from '../http/files.ts'
import { disconnectSignal, afterFirstChunk, sendNotModified, sendStream } from '../http/send.ts'
import { queryTooCostly, Problem, unacceptableParameters } from '../http/problems.ts'
import { absolutePath, sendRedirect } from '../http/redirect.ts'
import type { Resource, ResourceRequest } from '../http/resource.ts'
import { sendUnpacked } from '../http/unpacked.ts'
import { areDefaultColumns, type QueryParameters } from '../query/parameters.ts'
import { parseRowQuery, type RowQuery } from '../query/query.ts'
import { exportChunks, workOfExport, readAheadBytes } from '../table/representations/export.ts'
import { linkToFile, hintHeader, queryKey } from '../table/representations/page.ts'
import { rowForm, type RowFormat } from '../formats/format.ts'
import { csvFormat } from '../formats/csv.ts'
import { rowFormats } from '../formats/registry.ts'
import type { Requester } from '../table/engine/requester.ts'
import { isWholeTable } from '../table/selection/selections.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { fileNameOf } from './file-name.ts'
import { findDataset, findTable, unavailable, requesterOf } from './find.ts'
import { problemOf } from './problem-of.ts'

/** Parquet comes only from existing files. */
const parquetType = 'application/vnd.apache.parquet'
const parquet = { name: 'parquet', mediaTypes: [parquetType] } as const satisfies Offer

type ExportFormat = RowFormat | typeof parquet
const formats: readonly [ExportFormat, ...ExportFormat[]] = [
  csvFormat,
  ...rowFormats.filter((format) => format !== csvFormat),
  parquet,
]

type ExportService = Omit<Runtime, 'catalog'> & { readonly catalog: CatalogTexts }

/** All rows of a query as a stream, or an existing file of the whole table. */
export function tableExport(family: Family, service: Runtime): Resource {
  const { catalog, publicUrl } = service
  const texts = defaultTexts(catalog)
  const { export: exportedAt } = addressesOf(family, publicUrl)
  return {
    path: '/dataset/:dataset/:table/export',
    name: 'Table Export',
    description: `All rows of a query as one stream. ${catalog.notice}`,
    countsAs: 'exports',
    offers: formats,
    respond: respondWithRows(service, {
      formats,
      texts,
      exportAddressOf: exportedAt,
      citedAddressOf: exportedAt,
    }),
  }
}

interface ExportOptions {
  readonly formats: readonly [ExportFormat, ...ExportFormat[]]
  readonly texts: ReturnType<typeof defaultTexts>
  readonly exportAddressOf: (dataset: Dataset, table: Table) => string
  readonly citedAddressOf: (dataset: Dataset, table: Table) => string
}

export function respondWithRows(
  service: ExportService,
  { formats: offers, texts, exportAddressOf, citedAddressOf }: ExportOptions,
): (request: ResourceRequest, req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { catalog, publicUrl, snapshots, freshness } = service
  const files = fileAddresses(publicUrl)
  return async (request, req, res) => {
    const dataset = findDataset(catalog, request.params)
    const table = findTable(dataset, request.params)
    const query = parseRowQuery(table, request.target, ['page', 'page_size'])
    const format = negotiate(request.headers, query.format, offers)
    const pinnedId = query.snapshot === 'current' ? null : query.snapshot
    const [exportAddress, citedAddress] = [exportAddressOf(dataset, table), citedAddressOf(dataset, table)]
    await snapshots.use(table, pinnedId, async (snapshot) => {
      if (snapshot === null) {
        const current = snapshots.current(table)
        const newest = new Map([...query.parameters, ['snapshot', current?.manifest.snapshot ?? 'current']])
        throw unavailable(table, pinnedId, snapshots, withQuery(exportAddress, newest, 1))
      }
      const isWholeDownload = isWholeTable(snapshot, query) && areDefaultColumns(table, query.columns)
      if (isWholeDownload && format === csvFormat) {
        await sendDownload(snapshot, service, request, req, res)
        return
      }
      // Only Parquet has no content type: it exists as files of whole tables.
      if (!('contentType' in format)) {
        const partCount = snapshot.manifest.parts.length
        if (!isWholeDownload || partCount > 1)
          throw noParquet(files.listing(table), isWholeDownload, partCount)
        sendRedirect(res, 302, absolutePath(parquetOf(snapshot, files)), freshness.changing)
        return
      }
      await streamRows(
        { ...texts, table, snapshot, query, format, exported: exportAddress, citedAddress },
        service,
        request,
        req,
        res,
      )
    })
  }
}

interface ExportedRows {
  readonly catalog: CatalogTexts
  readonly language: Language
  readonly table: Table
  readonly snapshot: Snapshot
  readonly query: RowQuery
  readonly format: RowFormat
  /** Absolute addresses without the query: of the export, and the one that a workbook names. */
  readonly exported: string
  readonly citedAddress: string
}

async function streamRows(
  { catalog, language, table, snapshot, query, format, exported, citedAddress }: ExportedRows,
  service: ExportService,
  request: ResourceRequest,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { account, client } = request
  const { engine, publicUrl, pageBytesMax, freshness } = service
  const { manifest } = snapshot
  const downloadUrl = fileAddresses(publicUrl).download(table)
  const requester = requesterOf(request, disconnectSignal(res), pageBytesMax)
  const form = rowForm(table, format, query)
  const { columns, parameters } = query
  const workbookSource = {
    catalog,
    language,
    snapshot,
    columns,
    filter: query,
    parameters,
    addressWith: (target: QueryParameters) => withQuery(citedAddress, target, 1),
  }
  const pack = 'pack' in format ? format.pack : undefined
  const texts = pack === undefined ? '' : JSON.stringify(workbookOf(workbookSource, 0))
  const key = `export\n${queryKey(snapshot, form, query)}${texts}`
  const tag = `"${contentName(key)}"` as const
  const isPinned = query.snapshot !== null && query.snapshot !== 'current'
  const describe = (): void => {
    res.setHeader('ETag', tag)
    res.setHeader('Cache-Control', isPinned ? freshness.immutable : freshness.changing)
    res.setHeader('Acervo-Snapshot', manifest.snapshot)
    res.setHeader('Link', linkToFile(downloadUrl))
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
  if (pack !== undefined && selection.count > table.excelRowsMax) {
    const asCsv = withQuery(exported, new Map([...parameters, ['format', 'csv']]), 1)
    throw tooManyForExcel(table, selection.count, asCsv, parquetOf(snapshot, fileAddresses(publicUrl)))
  }
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
  const selected = { snapshot, query, form, selection }
  const chunksFor = async (requesting: Requester): Promise<AsyncIterable<Uint8Array>> => {
    const rows = await afterFirstChunk(exportChunks(selected, engine, requesting))
    return pack === undefined ? rows : pack(rows, workbookOf(workbookSource, selection.count))
  }
  // The export is charged as a whole, so its batches are not charged again.
  const paid = { ...requester, pay: async () => undefined }
  const wantsLength = req.method === 'HEAD' || req.headers.range !== undefined
  if (wantsLength && service.finished.fits(selection.count * snapshot.rowBytes)) {
    const finishedFile = service.finished.find(tag)
    if (finishedFile === null) await account.spend(workOfExport(selected))
    const finishedExport =
      finishedFile ??
      (await service.exports.during(client, paid.signal(), () =>
        service.finished.make(tag, paid.signal(), (stop) => chunksFor({ ...paid, signal: () => stop })),
      ))
    if (finishedExport !== null) {
      try {
        describeRows()
        const { start, end } = beginRange(req, res, tag, finishedExport.bytes)
        const isHead = req.method === 'HEAD'
        if (finishedFile !== null) await account.spend(isHead ? {} : { fileBytes: end + 1 - start })
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
  } else await account.spend(req.method === 'HEAD' ? {} : workOfExport(selected))
  if (req.method === 'HEAD') {
    describeRows()
    res.end()
    return
  }
  requireChunks(req)
  await service.exports.during(client, paid.signal(), async (slot) => {
    service.sendBudget.requireRoom()
    const chunks = await chunksFor(paid)
    describeRows()
    const trailers = { 'Acervo-Rows': String(selection.count) }
    await sendStream(res, chunks, service.sendBudget, { trailers, slot, readAheadBytes })
  })
}

/**
 * Sends the existing gzip file. It is unpacked for clients that do not accept gzip, and if it has several
 * members, of which some clients read only the first.
 */
async function sendDownload(
  snapshot: Snapshot,
  service: ExportService,
  { client, account }: ResourceRequest,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { table, manifest, folder, report } = snapshot
  const { freshness, publicUrl } = service
  const download = manifest.files.find(({ file }) => file === fileNames.download(table))
  if (download === undefined) throw new Error('snapshot has no download')
  const servedFile: ServedFile = {
    folder,
    file: download.file,
    sha256: download.sha256,
    bytes: download.bytes,
    mediaType: csvFormat.contentType,
    cacheControl: freshness.changing,
    saveAs: fileNameOf(snapshot, { parameters: new Map() }, csvFormat.ending),
    isUnchanged: () => snapshot.isUnchanged(download.file),
    keepOpen: () => snapshot.pin([download.file]),
    onMismatch: snapshot.recheck,
  }
  res.setHeader('Acervo-Snapshot', manifest.snapshot)
  res.setHeader('Acervo-Count', manifest.rows)
  const columnsUrl = documentAddresses(publicUrl).ofTable(table, csvw.file)
  res.setHeader('Link', `<${columnsUrl}>; rel="describedby"; type="${csvw.contentType}"`)
  // Null for a gzip file with several members, which earlier versions wrote.
  const sections = report?.download_sections ?? null
  const acceptsGzip = acceptedEncodings(req.headers['accept-encoding']).some(({ name }) => name === 'gzip')
  account.countsAs = 'files'
  if (acceptsGzip && sections !== null) {
    await sendFile(req, res, { ...servedFile, contentEncoding: 'gzip' }, client, service)
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
  // Without sections, the length of the text is unknown, so it is sent in chunks, which HTTP/1.0 lacks.
  if (sections === null) requireChunks(req)
  res.setHeader('Content-Type', servedFile.mediaType)
  res.setHeader('Content-Disposition', `attachment; filename="${servedFile.saveAs}"`)
  await sendUnpacked(req, res, { ...servedFile, tag, sections }, client, service)
}

function parquetOf({ table, manifest }: Snapshot, files: FileAddresses): string {
  const [part, second] = manifest.parts
  return part !== undefined && second === undefined
    ? files.file(table, manifest.snapshot, part.file)
    : files.listing(table)
}

function noParquet(listing: string, isWholeDownload: boolean, partCount: number): Problem {
  const message = isWholeDownload
    ? `The parameter "format" may not be parquet, since the table has ${partCount} Parquet files: ${listing} lists them.`
    : `The parameter "format" may be parquet only for all rows and fields; their files: ${listing}.`
  return unacceptableParameters([{ parameter: 'format', message }])
}

function tooMany({ exportRowsMax }: Table, count: number, downloadUrl: string): Problem {
  return queryTooCostly(
    `The query has ${inGroups(count)} rows, but an export may have at most ${inGroups(exportRowsMax)}: add a condition.`,
    downloadUrl,
  )
}

function tooManyForExcel({ excelRowsMax }: Table, count: number, csv: string, file: string): Problem {
  return new Problem(
    'query-too-costly',
    `The query has ${inGroups(count)} rows, but a workbook may have at most ${inGroups(excelRowsMax)}: add a condition, or download CSV at ${csv}, or the whole table as Parquet at ${file}.`,
    {
      headers: {
        Link: `<${csv}>; rel="alternate"; type="text/csv", <${file}>; rel="alternate"; type="${parquetType}"`,
      },
    },
  )
}

function inGroups(number: number): string {
  return number.toLocaleString('en')
}

/** A broken transfer without chunks looks complete. */
function requireChunks({ httpVersion }: IncomingMessage): void {
  if (httpVersion !== '1.0') return
  throw new Problem(
    'http-version',
    'An export needs HTTP/1.1, which shows whether it is complete; in nginx, set proxy_http_version 1.1.',
  )
}
