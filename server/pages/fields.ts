import type { Dataset, Field, Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import { operatorsOf } from '../query/operators.ts'
import { framed, type Setting } from './frame.ts'
import { distinctText } from './distinct.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'
import { shownBound } from './table/profile.ts'
import { tabsPart, trailTo } from './table/tabs.ts'

export interface FieldsView {
  readonly dataset: Dataset
  readonly table: Table
  readonly report: SnapshotReport | null
}

type Profile = SnapshotReport['fields'][number]

/** What each field of a table is, as the catalog declares it and as the ingest found it. */
export function fieldsPage(setting: Setting, { dataset, table, report }: FieldsView): Html {
  const { addresses, language, words } = setting
  const title = `${words.fields}: ${dataset.name}, ${table.name}`
  const main = html`
    <h1>${title}</h1>
    ${tabsPart(setting, table, 'fields')}
    <p><a href="${addresses.dictionary(language, table)}" download>${words.download} CSV</a></p>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.fields}">
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">${words.field}</th>
            <th scope="col">${words.type}</th>
            <th scope="col">${words.meaning}</th>
            <th scope="col">${words.bounds}</th>
            <th scope="col">${words.distribution}</th>
          </tr>
        </thead>
        <tbody>
          ${table.fields.map((field) => fieldLine(setting, field, table, foundOf(report, field)))}
        </tbody>
      </table>
    </div>
  `
  return framed(setting, {
    title,
    main,
    inLanguage: (other) => addresses.aspect(other, table, 'fields'),
    trail: trailTo(setting, dataset, table),
  })
}

function foundOf(report: SnapshotReport | null, { name }: Field): Profile | undefined {
  return report?.fields.find((one) => one.name === name)
}

function typeText({ words }: Setting, field: Field): string {
  const digits = typeRow(field.type).hasDigits ? ` (${field.precision}, ${field.scale})` : ''
  return `${words.types[field.type]}${digits}`
}

function fieldLine(setting: Setting, field: Field, { filters }: Table, found: Profile | undefined): Html {
  const { words } = setting
  const { count } = writtenIn(words)
  const bounds = [found?.min, found?.max].flatMap((text) => text ?? [])
  return html`<tr>
    <th scope="row">
      <code>${field.name}</code>
      ${field.title !== null && html`<p class="facts">${field.title}</p>`}
    </th>
    <td>
      ${typeText(setting, field)}${field.unit !== null && html`, ${field.unit}`}
      ${field.kind !== null && html`<p class="facts">${words.kinds[field.kind]}</p>`}
    </td>
    <td>
      ${field.description ?? html`<span class="null">${words.noMeaning}</span>`}
      ${filters.includes(field.name) && html`<p class="facts">${words.canFilter}: ${operatorsOf(field).join(', ')}</p>`}
    </td>
    <td>
      ${bounds.length === 2 && html`<span dir="auto">${words.between(bounds[0] ?? '', bounds[1] ?? '')}</span>`}
      ${found !== undefined && html`<p class="facts">${found.nulls > 0 ? words.nulls(count(found.nulls)) : words.noNulls}</p>`}
      ${found !== undefined && html`<p class="facts">${distinctText(setting.words, found)}</p>`}
    </td>
    <td>${distributionPart(setting, field, found)}</td>
  </tr>`
}

function distributionPart({ words }: Setting, field: Field, found: Profile | undefined): Html | null {
  const { count } = writtenIn(words)
  const top = (found?.top ?? []).map(
    ({ value, rows }) => [value === '' ? words.emptyText : value, rows] as const,
  )
  const ranges = (found?.histogram ?? []).map(
    ({ from, to, rows }) => [words.between(shownBound(field, from), shownBound(field, to)), rows] as const,
  )
  const shown = top.length > 0 ? top : ranges
  if (shown.length === 0) return null
  return html`<ul class="values">
    ${shown.map(([text, rows]) => html`<li dir="auto">${text} <span class="share">${count(rows)}</span></li>`)}
  </ul>`
}

/** The same as CSV, a field a line; texts in the language of the page. */
export function dictionaryCsv({ table, report }: FieldsView): string {
  const head = [
    'name',
    'type',
    'precision',
    'scale',
    'title',
    'description',
    'unit',
    'kind',
    'nulls',
    'distinct_estimate',
    'min',
    'max',
    'most_frequent',
    'operators',
  ]
  const lines = table.fields.map((field) => {
    const found = foundOf(report, field)
    const { hasDigits } = typeRow(field.type)
    return [
      field.name,
      field.type,
      hasDigits ? field.precision : null,
      hasDigits ? field.scale : null,
      field.title,
      field.description,
      field.unit,
      field.kind,
      found?.nulls,
      found?.distinct_estimate,
      found?.min,
      found?.max,
      (found?.top ?? []).map(({ value, rows }) => `${value} (${rows})`).join('; '),
      table.filters.includes(field.name) ? operatorsOf(field).join(' ') : '',
    ]
  })
  return [head, ...lines].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
}

function csvCell(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? '' : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
