import { operatorsOf } from '../query/operators.ts'
import { isNumber, isTime, valueText } from '../documents/words/value-text.ts'
import { titleOf } from '../documents/words/titles.ts'
import { csvText } from '../formats/csv.ts'
import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import { framed, type PageContext } from './frame.ts'
import { html, stackedTable, type Html } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import { distinctText, boundText, stripPart } from './table/profile.ts'
import { headPart, trailTo } from './table/tabs.ts'
import type { Resource } from '../http/resource.ts'
import {
  requestedTable,
  webPage,
  pageAt,
  textFile,
  type RequestedTable,
  type PageService,
} from './service.ts'

type Profile = SnapshotReport['fields'][number]

function fieldsHtml(context: PageContext, view: RequestedTable): Html {
  const { dataset, table, report } = view
  const { addresses, language, words } = context
  const title = `${words.fields}: ${dataset.name}, ${titleOf(table)}`
  const main = html`
    ${headPart(context, view, 'fields')}
    <p><a href="${addresses.dictionary(language, table)}" download>${words.download} CSV</a></p>
    ${stackedTable(
      words.fields,
      [words.field, words.type, words.bounds, words.distribution],
      table.fields.map((field) => fieldLine(context, field, profileOf(report, field))),
    )}
  `
  return framed(context, {
    title,
    main,
    inLanguage: (target) => addresses.aspect(target, table, 'fields'),
    trail: trailTo(context, dataset),
  })
}

function profileOf(report: SnapshotReport | null, { name }: Field): Profile | undefined {
  return report?.fields.find((item) => item.name === name)
}

function typeText({ words }: PageContext, field: Field): string {
  const name = words.types[field.type]
  return typeRow(field.type).hasDigits ? `${name}, ${words.decimals(field.scale)}` : name
}

function fieldLine(context: PageContext, field: Field, statistics: Profile | undefined): Html {
  const { words } = context
  const { count } = writtenIn(words)
  // The minimum and maximum of texts say little.
  const bounds =
    isNumber(field) || isTime(field) ? [statistics?.min, statistics?.max].flatMap((text) => text ?? []) : []
  const facts =
    statistics === undefined
      ? []
      : [
          distinctText(words, statistics),
          statistics.nulls > 0 ? words.nulls(count(statistics.nulls)) : words.noNulls,
        ].filter((text) => text !== '')
  return html`<tr>
    <th scope="row">
      ${field.title} <code>${field.name}</code>
      ${field.description !== null && html`<p class="facts">${field.description}</p>`}
    </th>
    <td>
      ${typeText(context, field)}${field.unit !== null && html`, ${field.unit}`}
      ${field.kind !== null && html`<p class="facts">${words.kinds[field.kind]}</p>`}
    </td>
    <td>
      ${bounds.length === 2 && words.between(boundText(words, field, bounds[0] ?? ''), boundText(words, field, bounds[1] ?? ''))}
      <p class="facts dotted">${facts.map((fact) => html`<span>${fact}</span> `)}</p>
    </td>
    <td>${distributionPart(context, field, statistics)}</td>
  </tr>`
}

function distributionPart(
  { words }: PageContext,
  field: Field,
  statistics: Profile | undefined,
): Html | null {
  const { count } = writtenIn(words)
  const top = (statistics?.top ?? []).map(
    ({ value, rows }) => [valueText(words, field, value), rows] as const,
  )
  const ranges = (statistics?.histogram ?? []).map(({ from, to, rows }, index) => {
    // Only the first range includes its lower bound.
    const range = index === 0 ? words.between : words.aboveUpTo
    return [range(boundText(words, field, from), boundText(words, field, to)), rows] as const
  })
  const entries = top.length > 0 ? top : ranges
  if (statistics === undefined || entries.length === 0) return null
  return html`<details class="profile">
    <summary aria-label="${words.distribution}: ${titleOf(field)}">${stripPart(words, statistics)}</summary>
    <ul class="values">
      ${entries.map(([text, rows]) => html`<li dir="auto">${text} <span class="share">${count(rows)}</span></li>`)}
    </ul>
  </details>`
}

function dictionaryCsv({ table, report }: RequestedTable): string {
  const lines = table.fields.map((field) => {
    const { name, type, precision, scale, title, description, unit, kind } = field
    const statistics = profileOf(report, field)
    const digits = typeRow(type).hasDigits ? { precision, scale } : { precision: null, scale: null }
    return {
      name,
      type,
      ...digits,
      title,
      description,
      unit,
      kind,
      nulls: statistics?.nulls,
      distinct_estimate: statistics?.distinct_estimate,
      min: statistics?.min,
      max: statistics?.max,
      most_frequent: (statistics?.top ?? []).map(({ value, rows }) => `${value} (${rows})`).join('; '),
      operators: table.filters.includes(name) ? operatorsOf(field).join(' ') : '',
    }
  })
  return [Object.keys(lines[0] ?? {}), ...lines.map((line) => Object.values(line))]
    .map((cells) => `${cells.map((cell) => csvText(String(cell ?? ''))).join(',')}\n`)
    .join('')
}

export function fieldsPage(service: PageService): Resource {
  return {
    ...pageAt(service, '/dataset/:dataset/:table/fields', 'Fields'),
    find: (request) => {
      const view = requestedTable(service, request)
      return webPage(service, ['fields', ...view.key], () => fieldsHtml(service.context, view))
    },
  }
}

export function dictionaryFile(service: PageService): Resource {
  return {
    ...pageAt(service, '/dataset/:dataset/:table/fields.csv', 'Field Dictionary'),
    find: (request) => {
      const view = requestedTable(service, request)
      const key = ['dictionary', ...view.key]
      return textFile(service, key, 'text/csv; charset=utf-8', () => dictionaryCsv(view))
    },
  }
}
