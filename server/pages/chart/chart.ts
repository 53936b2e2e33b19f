import { type Field, type Table, tableId } from '../../../core/catalog/catalog.ts'
import { partTerm, type Term } from '../../query/date-parts.ts'
import { measureOf, rowsName } from '../../query/measures.ts'
import { framed, type PageContext } from '../frame.ts'
import { html, type Html, textOf } from '../html.ts'
import { writtenIn } from '../number-formats.ts'
import { chipsPart, filterForm, hiddenInputs, optionPart } from '../table/conditions.ts'
import { tabsPart, trailTo } from '../table/tabs.ts'
import { rowParameters, equalTo, titleOf, withoutField, type QueryView } from '../table/view.ts'
import { barsPart, linePart, tilePlaces, tilesPart } from './shapes.ts'
import { type Dimension, dimensionsOf, stepOf } from './dimensions.ts'
import { mixedTotal, totalsChoice } from './totals.ts'
import { timed } from '../../http/responder.ts'
import type { Resource } from '../../http/resource.ts'
import { unacceptableParameters } from '../../http/problems.ts'
import { aggregate } from '../../table/representations/aggregate-page.ts'
import type { RowEngine } from '../../table/representations/page.ts'
import type { Search } from '../../table/selection/selections.ts'
import type { Requester } from '../../table/engine/requester.ts'
import { unquotedIn } from '../../query/conditions.ts'
import { answerQuery } from '../table/answer-query.ts'
import { named, pageAt, type PageService } from '../service.ts'
import { requesterOf } from '../../routes/find.ts'

/** Parameters of the chart itself. */
const chartParameters = ['chart_by', 'chart_sum'] as const

/** Rows with the same value. */
interface Group {
  /** Value as text; null for null. */
  readonly key: string | null
  readonly rows: number
  /** Exact sum of the measure; null without a measure or without any value. */
  readonly sum: string | null
}

interface ChartView extends QueryView {
  readonly dimensions: readonly Dimension[]
  /** Field that groups the rows; null if there is none. */
  readonly drawn: Dimension | null
  /** Summed field; null to count rows. */
  readonly measure: Field | null
  /** Number of leading characters of a value by which rows are grouped; null for the whole value. */
  readonly length: 4 | 7 | 10 | null
  readonly groups: readonly Group[]
}

/** Maximum number of bars; further groups are only in the table below. */
const barsMax = 40

function chartHtml(context: PageContext, view: ChartView): Html {
  const { addresses, words } = context
  const { dataset, table, drawn, measure } = view
  const title = `${words.aspects.chart}: ${dataset.name}, ${table.name}`
  const chosen: [string, string][] = [
    ...(drawn === null ? [] : [['chart_by', drawn.field.name] as [string, string]]),
    ...(measure === null ? [] : [['chart_sum', measure.name] as [string, string]]),
  ]
  const mixed = drawn === null || measure === null ? null : mixedTotal(view, drawn.field)
  const main = html`
    <h1>${title}</h1>
    ${tabsPart(context, table, 'chart', rowParameters(view))}
    ${drawn === null ? html`<p>${words.noChart}</p>` : html`${chooser(context, view, drawn)} ${filtersPart(context, view, chosen)} ${chipsPart(context, view, chosen)} ${mixed === null ? figurePart(context, view, drawn) : totalsChoice(context, view, mixed, chosen)}`}
  `
  return framed(context, {
    title,
    main,
    inLanguage: (other) =>
      addresses.aspect(other, table, 'chart', new Map([...rowParameters(view), ...chosen])),
    trail: trailTo(context, dataset, table),
  })
}

function filtersPart(
  context: PageContext,
  view: ChartView,
  chosen: readonly (readonly [string, string])[],
): Html | null {
  const { addresses, language, words } = context
  const form = filterForm(context, view, addresses.aspect(language, view.table, 'chart'), chosen)
  return (
    form &&
    html`<details>
      <summary>${words.filters}</summary>
      ${form}
    </details>`
  )
}

function chooser({ words, addresses, language }: PageContext, view: ChartView, drawn: Dimension): Html {
  const { table, dimensions, measure } = view
  const measures = table.fields.filter(({ name }) => table.measures.includes(name))
  return html`<form
    class="filters"
    action="${addresses.aspect(language, table, 'chart')}"
    method="get"
    data-on-change
  >
    ${hiddenInputs(view, new Set(chartParameters))}
    <p class="control">
      <label for="chart-by">${words.drawnBy}</label>
      <select id="chart-by" name="chart_by">
        ${dimensions.map(({ field }) => optionPart(field.name, field === drawn.field, titleOf(field)))}
      </select>
    </p>
    <p class="control">
      <label for="chart-sum">${words.drawnWhat}</label>
      <select id="chart-sum" name="chart_sum">
        ${optionPart('rows', measure === null, words.rowsHead)}
        ${measures.map((field) => optionPart(field.name, field === measure, words.sumOf(titleOf(field))))}
      </select>
    </p>
    <button>${words.apply}</button>
  </form>`
}

function figurePart(context: PageContext, view: ChartView, drawn: Dimension): Html {
  const { words } = context
  const { measure, groups } = view
  const what = measure === null ? words.rowsHead : words.sumOf(titleOf(measure))
  const label = words.drawn(what, titleOf(drawn.field))
  if (groups.length === 0) return html`<p role="status">${words.nothing}</p>`
  return html`<figure>
      <figcaption>
        ${label}${typeof measure?.unit === 'string' && html` (${measure.unit})`}. ${words.allRows}
      </figcaption>
      ${shapePart(context, view, drawn, label)}
      ${measure !== null && view.table.totals.size === 0 && html`<p class="facts">${words.sumsAdd}</p>`}
    </figure>
    ${valuesPart(context, view, drawn, what)}`
}

function shapePart(context: PageContext, view: ChartView, drawn: Dimension, label: string): Html {
  if (drawn.shape === 'line') return timePart(context, view, label)
  const { words } = context
  const known = drawn.shape === 'tiles' ? view.groups.filter(({ key }) => isUf(key)) : []
  if (known.length > 0) {
    const otherTexts = view.groups
      .filter(({ key }) => !isUf(key))
      .map((group) => `${nameOf(words, group)}: ${valueText(context, view, group)}`)
    return html`${tilesPart(
      known.map((group) => ({
        uf: group.key ?? '',
        address: addressOf(context, view, drawn.field, group),
        value: valueOf(view, group),
        valueText: valueText(context, view, group),
        short: writtenIn(words).compact(valueOf(view, group)),
      })),
      label,
      words,
    )}
    ${otherTexts.length > 0 && html`<p class="facts">${words.notDrawn(writtenIn(words).list(otherTexts))}</p>`}`
  }
  // Integers, such as years, are sorted by their value; other groups by the size of their bar.
  const isCounted = drawn.field.type === 'integer'
  const ranked = view.groups.toSorted((a, b) =>
    isCounted ? Number(a.key ?? Infinity) - Number(b.key ?? Infinity) : valueOf(view, b) - valueOf(view, a),
  )
  const rest = ranked.length - barsMax
  return html`${barsPart(
    ranked.slice(0, barsMax).map((group) => ({
      name: nameOf(words, group),
      address: addressOf(context, view, drawn.field, group),
      value: valueOf(view, group),
      valueText: valueText(context, view, group),
    })),
    label,
  )}${rest > 0 && html`<p class="facts">${words.othersBelow(writtenIn(words).count(rest))}</p>`}`
}

function isUf(key: string | null): boolean {
  return key !== null && Object.hasOwn(tilePlaces, key)
}

/** Draws groups that are days, months or years as a line in order of time; other groups are listed below it. */
function timePart(context: PageContext, view: ChartView, label: string): Html {
  const { words } = context
  const { compact, list } = writtenIn(words)
  const points = view.groups.flatMap((group) => {
    const at = group.key === null ? Number.NaN : Date.parse(group.key)
    if (Number.isNaN(at) || (view.measure !== null && group.sum === null)) return []
    const [period, number] = [periodOf(words, group.key ?? ''), valueText(context, view, group)]
    return [{ at, value: valueOf(view, group), period, number, description: `${period}: ${number}` }]
  })
  const otherGroups = view.groups.filter(({ key }) => key === null || Number.isNaN(Date.parse(key)))
  const [first] = points
  if (first === undefined) return html`<p>${words.nothing}</p>`
  const peak = points.reduce((best, point) => (point.value > best.value ? point : best), first)
  return html`<p class="facts">${words.most}: ${peak.number} (${peak.period})</p>
    ${linePart(points, label, compact)}
    <p class="ends facts"><span>${first.period}</span> <span>${points.at(-1)?.period}</span></p>
    ${
      otherGroups.length > 0 &&
      html`<p class="facts">
        ${words.notDrawn(list(otherGroups.slice(0, barsMax).map((group) => `${nameOf(words, group)}: ${valueText(context, view, group)}`)))}
      </p>`
    }`
}

/** Formats a day in the language of the page; a month or a year stays. */
function periodOf(words: PageContext['words'], key: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(key) && !Number.isNaN(Date.parse(key)) ? writtenIn(words).day(key) : key
}

function valuesPart(context: PageContext, view: ChartView, drawn: Dimension, what: string): Html {
  const { words } = context
  const { groups } = view
  return html`<details ${groups.length <= barsMax && drawn.shape !== 'line' ? 'open' : ''}>
    <summary>${words.asNumbers}</summary>
    <div class="scroll grid" tabindex="0" role="region" aria-label="${words.asNumbers}">
      <table>
        <thead>
          <tr>
            <th scope="col">${titleOf(drawn.field)}</th>
            <th scope="col" class="number">${what}</th>
            ${view.measure !== null && html`<th scope="col" class="number">${words.rowsHead}</th>`}
          </tr>
        </thead>
        <tbody>
          ${groups.map((group) => {
            const name = nameOf(words, group)
            const address = addressOf(context, view, drawn.field, group)
            return html`<tr>
              <th scope="row" dir="auto">
                ${address === null ? name : html`<a href="${address}">${name}</a>`}
              </th>
              <td class="number">${valueText(context, view, group)}</td>
              ${view.measure !== null && html`<td class="number">${writtenIn(words).count(group.rows)}</td>`}
            </tr>`
          })}
        </tbody>
      </table>
    </div>
  </details>`
}

function nameOf(words: PageContext['words'], { key }: Group): string {
  if (key === null) return words.null
  return key === '' ? words.emptyText : key
}

function valueOf({ measure }: ChartView, { rows, sum }: Group): number {
  return measure === null ? rows : Number(sum ?? 0)
}

function valueText({ words }: PageContext, { measure }: ChartView, { rows, sum }: Group): string {
  const { count, grouped } = writtenIn(words)
  if (measure === null) return count(rows)
  return sum === null ? words.null : grouped(sum)
}

/** Returns the address of a group's rows; null if the catalog allows no such filter. */
function addressOf(
  { addresses, language }: PageContext,
  view: ChartView,
  field: Field,
  { key }: Group,
): string | null {
  const { table } = view
  const condition = table.filters.includes(field.name) ? conditionOf(termOf(field, view.length), key) : null
  if (condition === null) return null
  return addresses.table(language, table, new Map([...withoutField(view, field), condition]))
}

/** Returns the condition that selects a group's rows; null if no filter can. */
function conditionOf(term: Term, key: string | null): [string, string] | null {
  if (term.part !== undefined) return [term.name, key ?? 'None']
  return key === null ? [`${term.name}__isnull`, 'true'] : equalTo(term, key)
}

/** Parts of dates by their number of characters. */
const stepParts = { 4: 'year', 7: 'month', 10: 'day' } as const

function termOf(field: Field, length: keyof typeof stepParts | null): Term {
  return (length === null ? undefined : partTerm(field, stepParts[length])) ?? field
}

async function readChartGroups(
  table: Table,
  search: Search,
  engine: RowEngine,
  { by, measure }: { readonly by: Term; readonly measure: Field | null },
): Promise<Group[]> {
  const names = [rowsName(table), ...(measure === null ? [] : [`${measure.name}__sum`])]
  const measures = names.flatMap((name) => measureOf(table, name) ?? [])
  const whole = { filter: search.filter, terms: [by], measures, conditions: [], ordering: [] }
  const {
    groups: { columns },
  } = await aggregate(search.snapshot, whole, engine, search.requester)
  const [keys = [], rows = [], sums = []] = columns
  return keys.map((key, group) => ({ key, rows: Number(rows[group]), sum: sums[group] ?? null }))
}

/** Page that draws the rows of a query by one of their fields, with all numbers. */
export function chartPage(service: PageService): Resource {
  const { context, responder, engine, pageBytesMax } = service
  const form = { without: ['format', 'page', 'page_size'], own: chartParameters } as const
  return {
    ...pageAt(service, '/dataset/:dataset/:table/chart', 'Chart'),
    countsAs: 'rows',
    respond: (request, req, res) =>
      answerQuery(service, request, res, form, async (queryView) => {
        const { table, snapshot, query, own } = queryView
        const { report } = snapshot
        const dimensions = dimensionsOf(table, report)
        const drawn = chosenBy(dimensions, own.get('chart_by'))
        const measures = table.fields.filter(({ name }) => table.measures.includes(name))
        const measure = chosenSum(measures, own.get('chart_sum'))
        const length = drawn?.shape === 'line' ? stepOf(drawn.field, report) : null
        const { snapshot: id } = snapshot.manifest
        const key = [
          tableId(table),
          id,
          [...query.parameters],
          unquotedIn(query),
          drawn?.field.name,
          measure?.name,
        ]
        const groupsFor = async (requester: Requester): Promise<readonly Group[]> =>
          drawn === null || (measure !== null && mixedTotal(queryView, drawn.field) !== null)
            ? []
            : readChartGroups(table, { snapshot, filter: query, requester }, engine, {
                by: termOf(drawn.field, length),
                measure,
              })
        await responder.send(req, res, {
          ...named(service, ['chart', ...key]),
          body: async (signal) => {
            const requester = requesterOf(request, signal, pageBytesMax)
            const groups = await groupsFor(requester)
            const view = { ...queryView, dimensions, drawn, measure, length, groups }
            return timed(() => textOf(chartHtml(context, view)))
          },
        })
      }),
  }
}

function chosenBy(dimensions: readonly Dimension[], name: string | undefined): Dimension | null {
  if (name === undefined) return dimensions[0] ?? null
  const names = dimensions.map(({ field }) => field.name)
  const found = dimensions.find(({ field }) => field.name === name)
  if (found === undefined) throw notOneOf('chart_by', names)
  return found
}

/** Returns the field to sum, or null to count rows. Counting is the default, since a sum may be meaningless. */
function chosenSum(measures: readonly Field[], name: string | undefined): Field | null {
  if (name === undefined || name === 'rows') return null
  const found = measures.find((field) => field.name === name)
  if (found === undefined) throw notOneOf('chart_sum', ['rows', ...measures.map((field) => field.name)])
  return found
}

function notOneOf(parameter: string, names: readonly string[]): Error {
  const message = `The parameter "${parameter}" must be one of: ${names.join(', ')}.`
  return unacceptableParameters([{ parameter, message }])
}
