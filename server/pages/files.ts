import { titleOf } from '../documents/words/titles.ts'
import { webPage, pageAt, type PageService } from './service.ts'
import type { Resource } from '../http/resource.ts'
import { publicFiles } from '../routes/files.ts'
import { findDataset } from '../routes/find.ts'
import { parseQuery } from '../query/parameters.ts'
import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import { fileNames } from '../../core/warehouse/layout.ts'
import type { Manifest, StoredFile } from '../../core/warehouse/manifest.ts'
import type { FileAddresses } from '../http/addresses.ts'
import { attachLine } from '../documents/attach.ts'
import { framed, type PageContext } from './frame.ts'
import { trailTo } from './table/tabs.ts'
import { html, stackedTable, type Html, codePart } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'

interface TableFiles {
  readonly table: Table
  readonly manifest: Manifest
  readonly files: readonly StoredFile[]
  readonly earlier: readonly Manifest[]
}

interface FilesView {
  readonly dataset: Dataset
  readonly tables: readonly TableFiles[]
  readonly files: FileAddresses
}

export function filesPage(service: PageService): Resource {
  const { catalog, snapshots, context, files } = service
  return {
    ...pageAt(service, '/files/:dataset', 'Files'),
    find: async ({ params, target }) => {
      const dataset = findDataset(catalog, params)
      parseQuery(target, [])
      const tables: TableFiles[] = []
      for (const table of dataset.tables.values()) {
        const snapshot = snapshots.current(table)
        if (snapshot === null) continue
        const earlierManifests = await snapshots.earlier(table)
        tables.push({
          table,
          manifest: snapshot.manifest,
          files: publicFiles(snapshot),
          earlier: earlierManifests,
        })
      }
      const ids = tables.map(({ manifest, earlier }) =>
        [manifest, ...earlier].map(({ snapshot }) => snapshot),
      )
      return webPage(service, ['files', dataset.slug, ids], () =>
        filesHtml(context, { dataset, tables, files }),
      )
    },
  }
}

function filesHtml(context: PageContext, { dataset, tables, files }: FilesView): Html {
  const { addresses, words } = context
  const title = `${words.files}: ${dataset.name}`
  const [first] = tables
  const main = html`
    <h1>${title}</h1>
    ${first === undefined ? html`<p class="lead">${words.noFiles}</p>` : filesPart(context, dataset, tables, files, first.table)}
  `
  return framed(context, {
    title,
    main,
    inLanguage: (language) => addresses.files(language, dataset),
    trail: trailTo(context, dataset),
  })
}

function filesPart(
  context: PageContext,
  dataset: Dataset,
  tables: readonly TableFiles[],
  files: FileAddresses,
  example: Table,
): Html {
  const { words } = context
  return html`<p class="lead">${words.filesLead}</p>
    ${tables.map((table) => tablePart(context, table, files))}
    <section>
      <h2>${words.proveFiles}</h2>
      <p>${words.proveFilesHow}</p>
      ${codePart(`curl -fsSLO '${files.sums(dataset)}'\nsha512sum --check --ignore-missing SHA512SUMS`, words)}
    </section>
    <section>
      <h2>DuckDB</h2>
      <p>${words.duckdbHow}</p>
      ${codePart(`${attachLine(example, files)} LIMIT 10;`, words)}
    </section>`
}

function tablePart(
  context: PageContext,
  { table, manifest, files, earlier }: TableFiles,
  addressOf: FileAddresses,
): Html {
  const { addresses, language, words } = context
  const { bytes } = writtenIn(words)
  const newestFirst = [manifest, ...earlier]
  return html`<section id="${table.name}">
    <h2><a href="${addresses.table(language, table)}">${titleOf(table)}</a></h2>
    <h3>${words.versions}</h3>
    <ol class="versions">
      ${newestFirst.map((version, index) => versionPart(context, table, version, newestFirst[index + 1] ?? null))}
    </ol>
    <h3>${words.files}</h3>
    ${stackedTable(
      `${words.files}: ${titleOf(table)}`,
      [words.file, [words.size], 'SHA-512'],
      files.map(
        ({ file, bytes: size, sha512 }) =>
          html`<tr>
            <th scope="row">
              <a href="${addressOf.file(table, manifest.snapshot, file)}">${file}</a>
              <p class="facts">${words.fileMeanings[kindOf(file)]}</p>
            </th>
            <td class="number" data-label="${words.size}">${bytes(size)}</td>
            <td data-label="SHA-512">
              <details class="sum">
                <summary>${sha512.slice(0, 12)}…</summary>
                <code>${sha512}</code>
              </details>
            </td>
          </tr>`,
      ),
    )}
  </section>`
}

function kindOf(file: string): 'download' | 'part' | 'changes' | 'report' {
  if (file === fileNames.report) return 'report'
  if (file.startsWith('changes')) return 'changes'
  return file.endsWith('.parquet') ? 'part' : 'download'
}

function versionPart(
  { addresses, language, words }: PageContext,
  table: Table,
  { snapshot, import_date: imported, rows, sources }: Manifest,
  before: Manifest | null,
): Html {
  const { moment, count } = writtenIn(words)
  const address = addresses.table(language, table, new Map([['snapshot', snapshot]]))
  const difference = before === null ? null : rows - before.rows
  const isSame = before !== null && sumsIn(before.sources) === sumsIn(sources)
  return html`<li>
    <time datetime="${imported}">${moment(imported)}</time>:
    <a href="${address}">${words.rows(count(rows))}</a>
    ${difference !== null && difference !== 0 && html`<span class="facts">${words.rowsMore(`${difference < 0 ? '−' : '+'}${count(Math.abs(difference))}`)}</span>`}
    ${isSame && html`<span class="facts">${words.sameAsBefore}</span>`} <code class="facts">${snapshot}</code>
  </li>`
}

function sumsIn(sources: Manifest['sources']): string {
  return sources.map(({ sha256 }) => sha256).join()
}
