import { isNumber, isTime, valueText } from '../../documents/words/value-text.ts'
import { titleOf } from '../../documents/words/titles.ts'
import type { Field } from '../../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../../core/warehouse/report.ts'
import { operatorsOf, readValue } from '../../query/operators.ts'
import { html, type Html } from '../html.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import type { PageContext } from '../frame.ts'
import type { Words } from '../../documents/words/en.ts'
import { equalTo, queryLink, withoutField, type TableView } from './view.ts'

type Profile = SnapshotReport['fields'][number]

const barsMax = 10
const topMax = 5
const height = 28

/** A strip that opens to bars or values with links to their rows. */
export function profilePart(context: PageContext, view: TableView, field: Field): Html | null {
  const statistics = view.snapshot.report?.fields.find(({ name }) => name === field.name)
  if (statistics === undefined) return null
  const { words } = context
  const { count } = writtenIn(words)
  const hasBounds = isNumber(field) || isTime(field)
  const [least, most] = [statistics.min, statistics.max].map((text) =>
    text != null && hasBounds ? boundText(words, field, text) : null,
  )
  const parts = [
    least != null && most != null && html`<p class="facts">${words.between(least, most)}</p>`,
    histogramPart(context, view, field, statistics) ?? topPart(context, view, field, statistics),
    statistics.nulls > 0 && html`<span class="nulls">${words.nulls(count(statistics.nulls))}</span>`,
  ]
  return html`<details class="profile">
    <summary aria-label="${words.distribution}: ${titleOf(field)}">${stripPart(words, statistics)}</summary>
    <div>${parts}</div>
  </details>`
}

/** Bars of a histogram or the most frequent values; their number if all are different. */
export function stripPart(words: Words, statistics: Profile): Html {
  const { histogram = [], top } = statistics
  const rows =
    histogram.length > 1
      ? mergeBins(histogram).map((range) => range.rows)
      : (top ?? []).map((item) => item.rows)
  if (rows.length === 0) {
    const text = distinctText(words, statistics)
    const number = statistics.distinct ?? statistics.distinct_estimate
    const short = number === undefined ? text : words.shortDistinct(number, writtenIn(words).compact(number))
    return html`<span class="distinct" title="${text}">${short}</span>`
  }
  return html`<svg
    class="bars"
    viewBox="0 0 ${rows.length * 10} ${height}"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <path class="bar" d="${outlineOf(rows, Math.max(...rows, 1))}" />
  </svg>`
}

function outlineOf(bars: readonly number[], highest: number): string {
  const outline = bars.map((rows, index) => {
    if (rows === 0) return ''
    const tall = Math.max(1, Math.round((height * rows) / highest))
    return `M${index * 10 + 1} ${height}v${-tall}h8v${tall}z`
  })
  return outline.join('')
}

function histogramPart(
  { words }: PageContext,
  view: TableView,
  field: Field,
  { histogram, max }: Profile,
): Html | null {
  if (histogram === undefined || histogram.length < 2) return null
  const bars = mergeBins(histogram)
  const highest = Math.max(...bars.map(({ rows }) => rows), 1)
  // Ranges end at whole seconds, so the last link would exclude times with fractions.
  const isLastBoundRounded = field.type === 'datetime' && (max ?? '').includes('.')
  const canFilter =
    view.table.filters.includes(field.name) && operatorsOf(field).includes('gte') && !isLastBoundRounded
  const { count } = writtenIn(words)
  const otherParameters = withoutField(view, field)
  // The clickable area has full height, so that low bars are easy to select.
  const clickableAreas = bars.map(({ from, to, rows }, index) => {
    if (rows === 0) return null
    const range = index === 0 ? words.between : words.aboveUpTo
    const label = `${range(boundText(words, field, from), boundText(words, field, to))}: ${words.rows(count(rows))}`
    const title = html`<title>${label}</title>`
    const areaPath = `M${index * 10} 0h10v${height}h-10z`
    const [lower, upper] = [boundOf(field, from), boundOf(field, to)]
    if (!canFilter || lower === null || upper === null) return html`<path d="${areaPath}">${title}</path>`
    // Ranges exclude their start, which belongs to the previous one; only the first includes it.
    const target = new Map([
      ...otherParameters,
      [`${field.name}__${index === 0 ? 'gte' : 'gt'}`, lower],
      [`${field.name}__lte`, upper],
    ])
    return html`<a href="${queryLink(target)}">${title}<path d="${areaPath}" /></a>`
  })
  return html`<svg
    class="bars"
    viewBox="0 0 ${bars.length * 10} ${height}"
    role="group"
    aria-label="${words.distribution}: ${titleOf(field)}"
    preserveAspectRatio="none"
  >
    <path
      class="bar"
      d="${outlineOf(
        bars.map(({ rows }) => rows),
        highest,
      )}"
    />
    ${clickableAreas}
  </svg>`
}

function topPart({ words }: PageContext, view: TableView, field: Field, profile: Profile): Html | null {
  const { top, distinct_estimate: distinct } = profile
  const { count, percent } = writtenIn(words)
  if (top === undefined || top === null || top.length === 0)
    return distinct === undefined || distinct === 0
      ? null
      : html`<span class="distinct">${distinctText(words, profile)}</span>`
  const totalRows = view.snapshot.manifest.rows
  const canFilter = view.table.filters.includes(field.name)
  const otherParameters = withoutField(view, field)
  return html`<ul class="values" aria-label="${words.mostFrequent}">
    ${top.slice(0, topMax).map(({ value, rows }) => {
      const share = rows * 100 < totalRows ? `< ${percent(0.01)}` : percent(rows / Math.max(1, totalRows))
      const valueInWords = valueText(words, field, value)
      const title = `${valueInWords}: ${words.rows(count(rows))}`
      const isUncut = !value.endsWith('…')
      const parameter = isUncut ? equalTo(field, value) : null
      const text = html`<span class="share">${share}</span> ${valueInWords}`
      return canFilter && parameter !== null
        ? html`<li>
            <a href="${queryLink(new Map([...otherParameters, parameter]))}" title="${title}">${text}</a>
          </li>`
        : html`<li title="${title}">${text}</li>`
    })}
  </ul>`
}

/** Text with at most as many decimals as the field has; floats get four significant digits. */
export function boundText(words: Words, field: Field, text: string): string {
  const isFloat = field.type === 'float'
  const bound = isFloat ? String(Number(Number(text).toPrecision(4))) : (boundOf(field, text) ?? text)
  return valueText(words, field, isNumber(field) ? bound : text)
}

/**
 * Converts an end of a range into an operand. It rounds excess digits down, which selects the same rows.
 * @returns null if the field cannot have such a value
 */
function boundOf(field: Field, text: string): string | null {
  const value = readValue(field, text)
  if (value !== null || !isNumber(field)) return value
  const [, sign = '', integer = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (integer === '') return null
  const scale = field.type === 'decimal' ? field.scale : 0
  const hasExtraDigits = /[1-9]/.test(fraction.slice(scale))
  const truncatedUnits = BigInt(`${sign}${integer}${fraction.slice(0, scale).padEnd(scale, '0')}`)
  const units = sign === '-' && hasExtraDigits ? truncatedUnits - 1n : truncatedUnits
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const integerLength = digits.length - scale
  const decimals = scale === 0 ? '' : `.${digits.slice(integerLength)}`
  return readValue(field, `${units < 0n ? '-' : ''}${digits.slice(0, integerLength)}${decimals}`)
}

function mergeBins(histogram: NonNullable<Profile['histogram']>): NonNullable<Profile['histogram']> {
  const width = Math.ceil(histogram.length / barsMax)
  const bars: { from: string; to: string; rows: number }[] = []
  for (const [index, range] of histogram.entries()) {
    const last = bars.at(-1)
    if (last === undefined || index % width === 0) bars.push({ ...range })
    else Object.assign(last, { to: range.to, rows: last.rows + range.rows })
  }
  return bars
}

/** Exact or approximate; empty if unknown. */
export function distinctText(
  words: Words,
  { choices, distinct = choices?.length, distinct_estimate: estimate }: Profile,
): string {
  const { count } = writtenIn(words)
  if (distinct !== undefined) return words.distinctExactly(distinct, count(distinct))
  return estimate === undefined ? '' : words.distinct(count(estimate))
}
