import { csvExcelFormat } from '../../formats/csv-excel.ts'
import { csvFormat } from '../../formats/csv.ts'
import { rowFormats } from '../../formats/registry.ts'
import { xlsxFormat } from '../../formats/xlsx.ts'
import { withQuery } from '../../http/addresses.ts'
import type { Resource } from '../../http/resource.ts'
import { pageSizeDefault, pageSizeMax, type QueryParameters } from '../../query/parameters.ts'
import { respondWithRows } from '../../routes/table-export.ts'
import type { PageContext } from '../frame.ts'
import { html, type Html } from '../html.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import { pageAt, rowAddresses, type PageService } from '../service.ts'
import { rowParameters, type TableView } from './view.ts'

/** Excel workbook with titles in the language of the pages. */
export function workbookFile(service: PageService): Resource {
  const { publicUrl, catalog, context } = service
  const { addresses, language } = context
  return {
    ...pageAt(service, '/dataset/:dataset/:table/rows.xlsx', 'Workbook'),
    countsAs: 'exports',
    offers: [xlsxFormat],
    respond: respondWithRows(service, {
      formats: [xlsxFormat],
      texts: { catalog, language },
      exportAddressOf: rowAddresses(service).export,
      citedAddressOf: (_, table) => `${publicUrl.origin}${addresses.table(language, table)}`,
    }),
  }
}

/** Downloads by purpose: the matching rows in each format, and the whole table. */
export function downloadsPart({ words, addresses, language }: PageContext, view: TableView): Html {
  const { table, query, range, files, snapshot, dataset } = view
  const { count, bytes } = writtenIn(words)
  const [download] = snapshot.manifest.files
  const parameters = rowParameters(view)
  // Link to the file of the snapshot if the query names one.
  const wholeFile =
    query.snapshot === null || query.snapshot === 'current' || download === undefined
      ? files.download(table)
      : files.file(table, query.snapshot, download.file)
  const titleOfFormat = (name: string): string =>
    name === csvExcelFormat.name ? words.decimalComma : name === 'arrow' ? 'Arrow' : name.toUpperCase()
  const exportLine = ({ name }: (typeof rowFormats)[number]): Html => {
    const address = view.exportAddress(new Map([...parameters, ['format', name]]))
    return downloadLine(titleOfFormat(name), address, words.aboutSize(bytes(sizeOf(view, name))))
  }
  const [parquet, ...otherParts] = snapshot.manifest.parts
  const forPrograms = rowFormats.filter(({ name }) => !forSheets.has(name)).map(exportLine)
  return html`<details class="menu end main" id="downloads">
    <summary>${words.download}</summary>
    <div>
      ${
        range.count > table.exportRowsMax
          ? html`<p>${words.tooMany(count(table.exportRowsMax))}</p>`
          : html`<p class="facts">${words.rows(count(range.count))}</p>
              <h2>${words.forSpreadsheets}</h2>
              <ul class="downloads">
                ${
                  range.count <= table.excelRowsMax
                    ? downloadLine('Excel', addresses.workbook(language, table, parameters), null)
                    : html`<li>${words.tooManyForExcel(count(table.excelRowsMax))}</li>`
                }
                ${[csvFormat, csvExcelFormat].map(exportLine)}
              </ul>
              <h2>${words.forPrograms}</h2>
              <ul class="downloads">
                ${forPrograms}
              </ul>`
      }
      ${
        view.fields.length < view.downloadFields.length &&
        html`<p class="facts">${words.fileColumns(count(view.downloadFields.length))}</p>`
      }
      <p><a href="${addresses.aspect(language, table, 'api', parameters)}#code">${words.asCode}</a></p>
      <h2>${words.wholeTable}</h2>
      <ul class="downloads">
        ${downloadLine('CSV (gzip)', wholeFile, bytes(download?.bytes ?? 0))}
        ${
          parquet !== undefined &&
          otherParts.length === 0 &&
          downloadLine(
            'Parquet',
            files.file(table, snapshot.manifest.snapshot, parquet.file),
            bytes(parquet.bytes),
          )
        }
        <li><a href="${addresses.files(language, dataset)}#${table.name}">${words.filesOf}</a></li>
      </ul>
    </div>
  </details>`
}

export function downloadLine(title: string, address: string, size: string | null): Html {
  return html`<li>
    <a href="${address}" rel="nofollow">${title}</a>
    ${size !== null && html`<span class="facts">${size}</span>`}
  </li>`
}

const pagesMax = 10

/**
 * Lines for all rows or groups of an address that answers with pages: one for each of the largest pages.
 * @param count number of rows or groups; beyond 10 pages, a sentence refers to the API
 */
export function pageLines(
  { words }: PageContext,
  formats: Readonly<Record<string, string>>,
  address: string,
  parameters: QueryParameters,
  count: number,
): Html[] {
  const { count: written } = writtenIn(words)
  const pages = Array.from(
    { length: Math.min(pagesMax, Math.max(1, Math.ceil(count / pageSizeMax))) },
    (_, index) => index + 1,
  )
  const size = count > pageSizeDefault ? [['page_size', String(pageSizeMax)] as const] : []
  const lines = Object.entries(formats).flatMap(([title, format]) =>
    pages.map((page) => {
      const rowNumbers = `${written((page - 1) * pageSizeMax + 1)}–${written(Math.min(count, page * pageSizeMax))}`
      return downloadLine(
        pages.length === 1 ? title : `${title}, ${rowNumbers}`,
        withQuery(address, new Map([...parameters, ['format', format], ...size]), page),
        null,
      )
    }),
  )
  const rest = count - pagesMax * pageSizeMax
  return rest > 0 ? [...lines, html`<li>${words.othersInApi(written(rest))}</li>`] : lines
}

const forSheets: ReadonlySet<string> = new Set(
  [xlsxFormat, csvFormat, csvExcelFormat].map(({ name }) => name),
)

function sizeOf({ range, downloadFields: fields, table, snapshot }: TableView, format: string): number {
  const { manifest, rowBytes } = snapshot
  const bytesPerRow = manifest.textBytes / Math.max(1, manifest.rows) + table.fields.length
  const row = format === 'json' || format === 'ndjson' ? rowBytes : bytesPerRow
  return Math.round((range.count * row * fields.length) / table.fields.length)
}
