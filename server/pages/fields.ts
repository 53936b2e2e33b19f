import type { Dataset, Field, Table } from '../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'

export interface FieldsView {
  readonly dataset: Dataset
  readonly table: Table
  readonly report: SnapshotReport | null
}

/** What each field of a table is, as the catalog declares it and as the ingest found it. */
export function fieldsPage(setting: Setting, { dataset, table, report }: FieldsView): Html {
  const { addresses, language, words } = setting
  const title = `${words.fields}: ${dataset.name}, ${table.name}`
  const main = html`
    <h1>${title}</h1>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.fields}">
      <table>
        <thead>
          <tr>
            <th scope="col">${words.field}</th>
            <th scope="col">${words.type}</th>
            <th scope="col">${words.meaning}</th>
            <th scope="col">${words.bounds}</th>
            <th scope="col">${words.mostFrequent}</th>
          </tr>
        </thead>
        <tbody>
          ${table.fields.map((field) => fieldLine(setting, field, report))}
        </tbody>
      </table>
    </div>
  `
  return framed(setting, {
    title,
    main,
    inLanguage: (other) => addresses.fields(other, table),
    trail: [
      { name: words.home, address: addresses.home(language) },
      { name: dataset.name, address: addresses.dataset(language, dataset) },
      { name: table.name, address: addresses.table(language, table) },
    ],
  })
}

function fieldLine({ words }: Setting, field: Field, report: SnapshotReport | null): Html {
  const found = report?.fields.find(({ name }) => name === field.name)
  const { count } = writtenIn(words)
  const digits = typeRow(field.type).hasDigits ? ` (${field.precision}, ${field.scale})` : ''
  const bounds = [found?.min, found?.max].filter((text) => text !== null && text !== undefined)
  const top = found?.top ?? []
  return html`<tr>
    <th scope="row">
      <code>${field.name}</code>
      ${field.title !== null && html`<p class="facts">${field.title}</p>`}
    </th>
    <td>${words.types[field.type]}${digits}</td>
    <td>${field.description}</td>
    <td>
      ${bounds.length === 2 && words.between(bounds[0] ?? '', bounds[1] ?? '')}
      ${found !== undefined && found.nulls > 0 && html`<p class="facts">${words.nulls(count(found.nulls))}</p>`}
      ${
        found?.distinct_estimate !== undefined &&
        html`<p class="facts">${words.distinct(count(found.distinct_estimate))}</p>`
      }
    </td>
    <td>
      <ul class="top">
        ${top.map(({ value, rows }) => html`<li>${value} <span class="share">${count(rows)}</span></li>`)}
      </ul>
    </td>
  </tr>`
}
