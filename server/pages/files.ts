import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { Manifest, StoredFile } from '../../core/warehouse/manifest.ts'
import type { FileAddresses } from '../http/addresses.ts'
import { attachLine } from '../documents/attach.ts'
import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'
import { codePart } from './link.ts'
import { writtenIn } from './numbers.ts'

/** A table with its files, and what was published before. */
export interface TableFiles {
  readonly table: Table
  readonly manifest: Manifest
  readonly files: readonly StoredFile[]
  /** The latest first, as far as they are kept. */
  readonly earlier: readonly Manifest[]
}

interface FilesView {
  readonly dataset: Dataset
  readonly tables: readonly TableFiles[]
  readonly files: FileAddresses
}

/** All files of a dataset: what they are, how they are proved to be whole, how they are opened, and earlier versions. */
export function filesPage(setting: Setting, { dataset, tables, files }: FilesView): Html {
  const { addresses, language, words } = setting
  const title = `${words.files}: ${dataset.name}`
  const [first] = tables
  const main = html`
    <h1>${title}</h1>
    <p class="lead">${words.filesLead}</p>
    ${tables.length === 0 && html`<p>${words.notPublished}</p>`}
    ${tables.map((table) => tablePart(setting, table, files))}
    <section>
      <h2>${words.proveFiles}</h2>
      <p>${words.proveFilesHow}</p>
      ${codePart(`curl -fsSLO '${files.sums(dataset)}'\nsha512sum --check --ignore-missing SHA512SUMS`, words)}
    </section>
    <section>
      <h2>DuckDB</h2>
      <p>${words.duckdbHow}</p>
      ${first !== undefined && codePart(`${attachLine(first.table, files)} LIMIT 10;`, words)}
    </section>
  `
  return framed(setting, {
    title,
    main,
    inLanguage: (other) => addresses.files(other, dataset),
    trail: [
      { name: words.home, address: addresses.home(language) },
      { name: dataset.name, address: addresses.dataset(language, dataset) },
    ],
  })
}

function tablePart(
  setting: Setting,
  { table, manifest, files, earlier }: TableFiles,
  addressOf: FileAddresses,
): Html {
  const { addresses, language, words } = setting
  const { bytes } = writtenIn(words)
  return html`<section id="${table.name}">
    <h2><a href="${addresses.table(language, table)}">${table.name}</a></h2>
    <h3>${words.versions}</h3>
    <ol class="versions">
      ${[manifest, ...earlier].map((one, index) => versionPart(setting, table, one, earlier[index] ?? null))}
    </ol>
    <h3>${words.files}</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.files}: ${table.name}">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">${words.file}</th>
            <th scope="col" class="number">${words.size}</th>
            <th scope="col">SHA-512</th>
          </tr>
        </thead>
        <tbody>
          ${files.map(
            ({ file, bytes: size, sha512 }) =>
              html`<tr>
                <th scope="row"><a href="${addressOf.file(table, manifest.snapshot, file)}">${file}</a></th>
                <td class="number" data-label="${words.size}">${bytes(size)}</td>
                <td data-label="SHA-512"><code class="sum">${sha512}</code></td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`
}

/** A snapshot beside the one before it. */
function versionPart(
  { addresses, language, words }: Setting,
  table: Table,
  { snapshot, import_date: imported, rows, sources }: Manifest,
  before: Manifest | null,
): Html {
  const { moment, count } = writtenIn(words)
  const address = addresses.table(language, table, new Map([['snapshot', snapshot]]))
  const more = before === null ? null : rows - before.rows
  const isSame = before !== null && sumsIn(before.sources) === sumsIn(sources)
  return html`<li>
    <time datetime="${imported}">${moment(imported)}</time>:
    <a href="${address}">${words.rows(count(rows))}</a>
    ${more !== null && html`<span class="facts">${words.rowsMore(`${more < 0 ? '−' : '+'}${count(Math.abs(more))}`)}</span>`}
    ${isSame && html`<span class="facts">${words.sameAsBefore}</span>`} <code class="facts">${snapshot}</code>
  </li>`
}

function sumsIn(sources: Manifest['sources']): string {
  return sources.map(({ sha256 }) => sha256).join()
}
