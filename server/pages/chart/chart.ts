import { describeFilter } from '../../documents/words/filter-text.ts'
import { isNumber, isTime, valueText } from '../../documents/words/value-text.ts'
import { titleOf, termTitle, measureTitle } from '../../documents/words/titles.ts'
import { publicPath } from '../../http/redirect.ts'
import { timed } from '../../http/responder.ts'
import { pathOf, type Resource } from '../../http/resource.ts'
import { baseOf, partsOf, partTerm, type Term } from '../../query/date-parts.ts'
import { formatList } from '../../query/list.ts'
import { measureOf, rowsName } from '../../query/measures.ts'
import { parametersOf } from '../../query/parameters.ts'
import type { Total } from '../../query/totals.ts'
import { requesterOf } from '../../routes/find.ts'
import { coverageOf, coverageText } from '../coverage.ts'
import type { Aggregate } from '../../table/representations/aggregate-page.ts'
import { framed, type PageContext } from '../frame.ts'
import { html, markup, noticePart, textOf, type Html } from '../html.ts'
import { citedVersion } from '../../documents/citation.ts'
import { citationsPart, dayOfAccess, subscribePart } from '../cite.ts'
import { withoutReservedNames } from '../../query/changes-query.ts'
import { embedPart, oEmbedLink } from '../iframe.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import { named, pageAt, rowAddresses, type PageService } from '../service.ts'
import { answerQuery } from '../table/answer-query.ts'
import {
  chipsPart,
  choicesPart,
  emptyPart,
  filterMenu,
  groupsAddress,
  hiddenInputs,
  optionPart,
} from '../table/conditions.ts'
import { headPart, trailTo } from '../table/tabs.ts'
import { rowParameters } from '../table/view.ts'
import {
  sourceFacts,
  chartKey,
  chartParameters,
  chartQuery,
  parseChart,
  type ChartView,
} from './chart-query.ts'
import { captionOf, chartView } from './chart-view.ts'
import { dimensionsOf, hasFewValues, longDimensions, type Dimension } from './dimensions.ts'
import { pageLines } from '../table/downloads.ts'
import { comparedMax, drawingOf, groupLink, labelOf, shownValue } from './drawing.ts'
import { chartWidths } from './svg/parts.ts'
import { chartFrameHeight, chartMarkup, chartSvg } from './svg/svg.ts'
import { totalsChoice, totalsNote } from './totals.ts'

export function chartPage(service: PageService): Resource {
  const { context } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/chart', 'Chart'),
    countsAs: 'rows',
    find: (request) => {
      const newParameters = renamedParameters(parametersOf(request.target))
      if (newParameters !== null)
        return {
          status: 301,
          location: `${publicPath(service.publicUrl, pathOf(request.target))}?${newParameters}`,
        }
      return answerQuery(service, request, parseChart, (answerable) => {
        const query = chartQuery(answerable)
        return {
          ...named(service, [...chartKey('chart', query), dayOfAccess()]),
          body: async (signal) => {
            const view = await chartView(
              query,
              service.engine,
              requesterOf(request, signal, service.pageBytesMax),
            )
            return timed(() => textOf(chartHtml(service, context, view)))
          },
        }
      })
    },
  }
}

function renamedParameters(pairs: readonly [string, string][]): string | null {
  if (pairs.every(([name]) => name !== 'chart_by' && name !== 'chart_sum')) return null
  const renamed = pairs.flatMap(([name, text]): [string, string][] => {
    if (name === 'chart_by') return [['group', formatList([text])]]
    if (name !== 'chart_sum') return [[name, text]]
    return text === 'rows' ? [] : [['measure', formatList([`${text}__sum`])]]
  })
  return new URLSearchParams(renamed).toString()
}

export function chartFile(service: PageService): Resource {
  const { context } = service
  const mediaType = 'image/svg+xml'
  return {
    ...pageAt(service, '/dataset/:dataset/:table/chart.svg', 'Chart as SVG'),
    offers: [{ name: 'svg', mediaTypes: [mediaType] }],
    countsAs: 'rows',
    find: (request) =>
      answerQuery(service, request, parseChart, (answerable) => {
        const query = chartQuery(answerable)
        return {
          ...named(service, chartKey('chart.svg', query), "default-src 'none'"),
          mediaType,
          body: async (signal) => {
            const view = await chartView(
              query,
              service.engine,
              requesterOf(request, signal, service.pageBytesMax),
            )
            return timed(() =>
              chartSvg(drawingOf(context, view, null), captionOf(context, view), chartWidths.wide),
            )
          },
        }
      }),
  }
}

function chartHtml(service: PageService, context: PageContext, view: ChartView): Html {
  const { addresses, words, language } = context
  const { dataset, table, chartPairs } = view
  const title = labelOf(words, view)
  const dimensions = dimensionsOf(table, view.snapshot.report)
  const parameters = chartParameters(view)
  const { mixedTotal: mixedTotals } = view
  const isDrawn = view.answer !== null && view.answer.selected.length > 0
  const { manifest, report } = view.snapshot
  const actions = isDrawn ? actionsPart(service, view) : null
  const main = html`
    ${headPart(context, { dataset, table, manifest, report }, 'chart', rowParameters(view), actions, parameters)}
    ${dimensions.length === 0 && view.aggregation.terms.length === 0 ? html`<p>${words.noChart}</p>` : chooserPart(context, view, dimensions)}
    <div class="bar">
      ${filterMenu(service, view, addresses.aspect(language, table, 'chart'), chartPairs)}
      ${comparePart(service, view)} ${chipsPart(context, view, chartPairs)}
    </div>
    ${
      mixedTotals !== null
        ? totalsNotice(context, view, mixedTotals)
        : isDrawn
          ? figurePart(service, view)
          : emptyPart(context, view, chartPairs)
    }
  `
  return framed(context, {
    title: `${title}: ${dataset.name}, ${titleOf(table)}`,
    main,
    inLanguage: (target) => addresses.aspect(target, table, 'chart', parameters),
    trail: trailTo(context, dataset),
    script: context.assets.chart,
    links: oEmbedLink(service, addresses.aspect(language, table, 'chart', parameters)),
  })
}

function totalsNotice(context: PageContext, view: ChartView, totalAmongParts: Total): Html {
  const { text, links } = totalsChoice(context, view, totalAmongParts, view.chartPairs)
  return noticePart(text, links)
}

function withChosen<T extends { readonly name: string }>(options: readonly T[], choice: T | undefined): T[] {
  return choice === undefined || options.some(({ name }) => name === choice.name)
    ? [...options]
    : [choice, ...options]
}

function chooserPart(context: PageContext, view: ChartView, dimensions: readonly Dimension[]): Html {
  const { words, addresses, language } = context
  const { table, aggregation, snapshot } = view
  const [first, second] = aggregation.terms
  const [measure] = aggregation.measures
  // Only the first dimension offers parts, to keep the list short.
  const shortTerms = dimensions.flatMap(({ field }, index): Term[] => {
    const parts = index === 0 ? partsOf(table, field) : []
    const offeredParts = field.type === 'datetime' ? parts : parts.filter((part) => part !== 'day')
    return [field, ...offeredParts.flatMap((part) => partTerm(field, part) ?? [])]
  })
  const terms = [...shortTerms, ...longDimensions(table, snapshot.report, dimensions)]
  // Without a unit, numbers may be codes.
  const amounts = table.fields.filter(
    ({ name, unit }) => (unit !== null || table.measures.includes(name)) && hasValues(view.snapshot, name),
  )
  const measures = [
    rowsName(table),
    ...table.measures.map((name) => `${name}__sum`),
    ...amounts.flatMap(({ name }) => [`${name}__avg`, `${name}__median`, `${name}__max`]),
  ].flatMap((name) => measureOf(table, name) ?? [])
  // Charts over time may show one small chart per state.
  const isOverTime = first !== undefined && isTime(baseOf(first))
  const splits = terms.filter(
    (term) => (isOverTime && term.kind === 'uf') || hasFewValues(term, snapshot.report),
  )
  return html`<form
    class="chooser"
    action="${addresses.aspect(language, table, 'chart')}"
    method="get"
    autocomplete="off"
    data-on-change
  >
    ${hiddenInputs(view, new Set(['group', 'measure', 'ordering']))}
    <p class="control">
      <label for="chart-group">${words.drawnBy}</label>
      <select id="chart-group" name="group">
        ${withChosen(terms, first).map((term) => optionPart(formatList([term.name]), term.name === first?.name, termTitle(words, term, view.table)))}
      </select>
    </p>
    <p class="control">
      <label for="chart-split">${words.splitBy}</label>
      <select id="chart-split" name="group">
        <option value="">${words.noSplit}</option>
        ${withChosen(splits, second).map((term) => optionPart(formatList([term.name]), term.name === second?.name, termTitle(words, term, view.table)))}
      </select>
    </p>
    <p class="control">
      <label for="chart-measure">${words.drawnWhat}</label>
      <select id="chart-measure" name="measure">
        ${withChosen(measures, measure).map((item) => optionPart(formatList([item.name]), item.name === measure?.name, measureTitle(words, item, table)))}
      </select>
    </p>
    <button>${words.apply}</button>
  </form>`
}

function hasValues({ manifest, report }: ChartView['snapshot'], name: string): boolean {
  return report?.fields.find((field) => field.name === name)?.nulls !== manifest.rows
}

function comparePart(service: PageService, view: ChartView): Html | null {
  const { words, addresses, language } = service.context
  const { table, aggregation, snapshot, query } = view
  const field = aggregation.terms[1]
  const choices = field === undefined ? undefined : snapshot.choices.get(field.name)
  if (field === undefined || choices === undefined || !table.filters.includes(field.name)) return null
  const name = `${field.name}__in`
  return html`<details class="menu filter">
    <summary>${words.compare}: ${titleOf(field)}</summary>
    <form
      action="${addresses.aspect(language, table, 'chart')}"
      method="get"
      autocomplete="off"
      data-most="${comparedMax}"
      data-groups="${groupsAddress(service, view)}"
      data-rows="${rowsName(table)}"
    >
      ${hiddenInputs({ query: { ...query, parameters: chartParameters(view) } }, new Set([field.name, `${field.name}__eq`, name]))}
      <p>${words.compareUpTo(comparedMax)}</p>
      ${choicesPart(field, view, words)}
      <button>${words.compare}</button>
    </form>
  </details>`
}

function actionsPart(service: PageService, view: ChartView): Html {
  const { words, addresses, language } = service.context
  const { dataset, table, snapshot, answer } = view
  const parameters = chartParameters(view)
  const pinnedParameters = new Map([...parameters, ['snapshot', snapshot.manifest.snapshot]])
  const pictureAddress = addresses.chartFile(language, table, parameters)
  const dataAddress = rowAddresses(service).aggregate(dataset, table)
  const feedParameters = new Map([...parameters].filter(([name]) => name !== 'snapshot'))
  const feed = service.writing.documents.tableFeed(
    table,
    language,
    withoutReservedNames(feedParameters, ['lang']),
  )
  const citation = {
    dataset,
    title: [
      captionOf(service.context, view).title,
      ...describeFilter(view.query, words),
      citedVersion(snapshot.manifest, words),
    ].join(', '),
    address: `${service.publicUrl.origin}${addresses.aspect(language, table, 'chart', pinnedParameters)}`,
    today: dayOfAccess(),
  }
  return html`<div class="actions">
    <details class="menu end main" id="downloads">
      <summary>${words.download}</summary>
      <div>
        <h2>${words.picture}</h2>
        <ul class="downloads">
          <li hidden><a href="${pictureAddress}" download="${table.name}.png" data-png>PNG</a></li>
          <li><a href="${pictureAddress}" download="${table.name}.svg">SVG</a></li>
        </ul>
        <h2>${words.numbers}</h2>
        <ul class="downloads">
          ${pageLines(service.context, { Excel: 'xlsx', CSV: 'csv', JSON: 'json' }, dataAddress, parameters, answer?.selected.length ?? 0)}
        </ul>
      </div>
    </details>
    <details class="menu end">
      <summary>${words.citeIt}</summary>
      <div>${citationsPart(service.context, citation)}</div>
    </details>
    ${subscribePart(service.context, feed)}
  </div>`
}

function figurePart(service: PageService, view: ChartView): Html {
  const { context } = service
  const { words, addresses, language } = context
  const { table, aggregation, snapshot } = view
  const drawing = drawingOf(context, view, (group) => groupLink(context, view, group))
  const [measure] = aggregation.measures
  const unit = measure?.field?.unit
  const isSum = measure?.aggregate === 'sum'
  const isOverTime = aggregation.terms.some((term) => isTime(baseOf(term)))
  const summedPeriod = isSum && !isOverTime ? coverageOf(table, snapshot.report) : null
  const note = drawing.note !== '' && html`<p class="facts">${drawing.note}</p>`
  const isOfStates = drawing.shape === 'states'
  const pinnedParameters = new Map([...chartParameters(view), ['snapshot', snapshot.manifest.snapshot]])
  const figure = html`<figure>
    <figcaption>
      <h2>${drawing.label}</h2>
      <p class="dotted">
        ${describeFilter(view.query, words).map((condition) => html`<span>${condition}</span> `)}
        ${typeof unit === 'string' && html`<span>${words.unit}: ${unit}</span>`}
        ${summedPeriod !== null && html`<span>${words.sumOver(coverageText(words, summedPeriod))}</span>`}
      </p>
    </figcaption>
    ${isOfStates && note} ${drawing.groups.length > 0 && markup(chartMarkup(drawing))} ${!isOfStates && note}
    ${isSum && totalsNote(context, view)}
    <p class="facts">${sourceFacts(words, view.dataset, snapshot)}</p>
  </figure>`
  const numbers = numbersPart(context, view, drawing.shape === 'tiles')
  return html`${drawing.shape === 'tiles' ? html`<div class="beside">${figure} ${numbers}</div>` : figure}
  ${embedPart(context, service, addresses.embed(language, table, 'chart', pinnedParameters), [drawing.label, ...describeFilter(view.query, words)].join(', '), chartFrameHeight(drawing, captionOf(context, view)))}
  ${drawing.shape !== 'tiles' && numbers}`
}

const linesMax = 2000

/** Sorts the groups of one named term by value, the greatest first, unless the query has an ordering. */
function shownGroups({ aggregation }: ChartView, { groups, selected }: Aggregate): number[] {
  const { terms, measures, ordering } = aggregation
  const [term, ...furtherTerms] = terms
  const [measure] = measures
  const isRanked =
    ordering.length === 0 &&
    furtherTerms.length === 0 &&
    term !== undefined &&
    measure !== undefined &&
    !isTime(baseOf(term)) &&
    !isNumber(term) &&
    isNumber(measure.column)
  // The only term is column 0.
  const [, measured] = groups.columns
  const valueOf = (group: number): number => Number(measured?.[group] ?? -Infinity)
  const groupNumbers = [...selected]
  return (isRanked ? groupNumbers.toSorted((a, b) => valueOf(b) - valueOf(a)) : groupNumbers).slice(
    0,
    linesMax,
  )
}

function numbersPart(context: PageContext, view: ChartView, isOpen: boolean): Html | null {
  const { words } = context
  if (view.answer === null) return null
  const { groups, selected } = view.answer
  const { terms, measures } = view.aggregation
  const linesOmitted = selected.length - linesMax
  return html`<details ${isOpen ? 'open' : ''}>
    <summary>${words.asNumbers}</summary>
    <div class="scroll grid numbers" tabindex="0" role="region" aria-label="${words.asNumbers}">
      <table>
        <thead>
          <tr>
            ${terms.map((term) => html`<th scope="col">${termTitle(words, term, view.table)}</th>`)}
            ${measures.map((measure) => html`<th scope="col" class="number">${measureTitle(words, measure, view.table)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${shownGroups(view, view.answer).map((group) => {
            const address = groupLink(context, view, group)
            const names = terms.map((term, index) =>
              valueText(words, term, groups.columns[index]?.[group] ?? null),
            )
            return html`<tr>
              ${names.map(
                (name, index) =>
                  html`<th scope="row" dir="auto">
                    ${index === 0 && address !== null ? html`<a href="${address}">${name}</a>` : name}
                  </th>`,
              )}
              ${measures.map((measure, index) => html`<td class="number">${shownValue(words, measure, groups.columns[terms.length + index]?.[group] ?? null)}</td>`)}
            </tr>`
          })}
        </tbody>
      </table>
    </div>
    ${linesOmitted > 0 && html`<p class="facts">${words.othersInFile(writtenIn(words).count(linesOmitted))}</p>`}
  </details>`
}
