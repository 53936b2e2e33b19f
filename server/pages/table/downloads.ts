import { rowFormats } from '../../formats/registry.ts'
import type { PageContext } from '../frame.ts'
import { html, type Html } from '../html.ts'
import { writtenIn } from '../number-formats.ts'
import { rowParameters, type TableView } from './view.ts'

/** Shows downloads of the matching rows in each format, and of the whole table. */
export function downloadsPart({ words, addresses, language }: PageContext, view: TableView): Html {
  const { table, query, range, files, snapshot, dataset } = view
  const { count, bytes } = writtenIn(words)
  const [download] = snapshot.manifest.files
  const ask = rowParameters(view)
  // Link to the file of the snapshot if the query names one.
  const wholeFile =
    query.snapshot === null || query.snapshot === 'current' || download === undefined
      ? files.download(table)
      : files.file(table, query.snapshot, download.file)
  const isAll = range.count === snapshot.manifest.rows && view.fields.length === table.fields.length
  return html`<section id="downloads">
    <h2>${isAll ? words.download : words.thisView}</h2>
    <ul class="downloads">
      ${
        range.count > table.exportRowsMax
          ? html`<li>${words.tooMany(count(table.exportRowsMax))}</li>`
          : rowFormats.map(
              ({ name }) =>
                html`<li>
                  <a href="${view.exportAddress(new Map([...ask, ['format', name]]))}" rel="nofollow"
                    >${name.toUpperCase()}</a
                  >
                  <span class="facts"
                    >${words.rows(count(range.count))}, ${words.aboutSize(bytes(sizeOf(view, name)))}</span
                  >
                </li>`,
            )
      }
      <li>
        <a href="${wholeFile}">${words.wholeTable}: CSV (gzip)</a>
        <span class="facts"
          >${words.rows(count(snapshot.manifest.rows))}, ${bytes(download?.bytes ?? 0)}</span
        >
      </li>
    </ul>
    <p>
      <a href="${addresses.dataset(language, dataset)}#cite">${words.cite}</a> ·
      <a href="${addresses.files(language, dataset)}#${table.name}">${words.filesOf}</a>
    </p>
  </section>`
}

/** Estimates the size of an export of the query, in bytes. */
function sizeOf({ range, fields, table, snapshot }: TableView, format: string): number {
  const { manifest, rowBytes } = snapshot
  const plain = manifest.textBytes / Math.max(1, manifest.rows) + table.fields.length
  const row = format === 'json' || format === 'ndjson' ? rowBytes : plain
  return Math.round((range.count * row * fields.length) / table.fields.length)
}
