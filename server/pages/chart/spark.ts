import type { Dataset, Table } from '../../../core/catalog/catalog.ts'
import type { Language } from '../../../core/catalog/names.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { html, type Html } from '../html.ts'
import type { PageService } from '../service.ts'
import { chartQuery, parseChart } from './chart-query.ts'
import { chartView } from './chart-view.ts'
import { drawingOf } from './drawing.ts'
import type { Drawing } from './svg/parts.ts'

const [width, height] = [240, 40]
const [pointsMax, barsMax] = [120, 20]
/** A second bar below this share of the greatest is hardly visible. */
const comparableShareMin = 0.03

/** Charts by snapshot, since a change of one table must not compute all again. */
const sparksBySnapshot = new WeakMap<Snapshot, Map<Language, Promise<Html | null>>>()

/** Small declared or default chart; null if it cannot be drawn or computed now. */
export function sparkOf(
  service: PageService,
  dataset: Dataset,
  table: Table,
  snapshot: Snapshot,
): Promise<Html | null> {
  const { language } = service.context
  const sparkByLanguage = sparksBySnapshot.get(snapshot) ?? new Map<Language, Promise<Html | null>>()
  sparksBySnapshot.set(snapshot, sparkByLanguage)
  const spark = sparkByLanguage.get(language)
  if (spark !== undefined) return spark
  const drawing = drawSpark(service, dataset, table, snapshot).catch(() => {
    sparkByLanguage.delete(language)
    return null
  })
  sparkByLanguage.set(language, drawing)
  return drawing
}

async function drawSpark(
  { context, engine, pageBytesMax }: PageService,
  dataset: Dataset,
  table: Table,
  snapshot: Snapshot,
): Promise<Html | null> {
  // All small charts are one client in DuckDB's queue. Several pages may wait for a chart, so its work
  // continues when a client leaves.
  const { signal } = new AbortController()
  const requester = { client: 'small charts', pageBytesMax, signal: () => signal, pay: async () => {} }
  const query = chartQuery({ dataset, table, snapshot, query: parseChart(table, '') })
  const drawing = drawingOf(context, await chartView(query, engine, requester), null)
  const { label, shape, isPartial } = drawing
  // An incomplete last period would look like a fall.
  const groups = isPartial ? drawing.groups.slice(0, -1) : drawing.groups
  // Bars say nothing if they are equal, or one outgrows all others.
  const sizes = groups.map(({ marks: [mark] }) => mark?.value ?? 0).toSorted((a, b) => b - a)
  const [largest = 0, secondLargest = 0] = sizes
  const saysNothing =
    shape === 'bars' && (largest === sizes.at(-1) || secondLargest < largest * comparableShareMin)
  if (groups.length < 3 || saysNothing) return null
  return html`<figure class="spark">
    <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">
      <path class="${shape === 'line' ? 'stroke' : 'area'}" d="${outlineOf(groups, shape)}" />
    </svg>
    <figcaption>${label}</figcaption>
  </figure>`
}

/** Thins out many points, but keeps the last. */
function outlineOf(groups: Drawing['groups'], shape: Drawing['shape']): string {
  const sums = groups.map(({ marks }) => marks.reduce((sum, mark) => sum + (mark?.value ?? 0), 0))
  const stride = Math.ceil(sums.length / pointsMax)
  const thinnedSums = sums.filter((_, index) => (sums.length - 1 - index) % stride === 0)
  // Tiles have no order, so they become bars by size.
  const orderedSums = shape === 'tiles' ? sums.toSorted((a, b) => b - a) : sums
  const shownSums = shape === 'bars' || shape === 'tiles' ? orderedSums.slice(0, barsMax) : thinnedSums
  const [least, most] = [Math.min(0, ...shownSums), Math.max(0, ...shownSums)]
  const y = (value: number): number =>
    Math.round(height - 1 - ((value - least) / (most - least || 1)) * (height - 2))
  const slotsMin = barsMax / 2
  const slotCount = Math.max(slotsMin, shownSums.length)
  const step = width / (shape === 'line' ? shownSums.length - 1 : slotCount)
  const x = (index: number): number => Math.round(index * step * 10) / 10
  if (shape === 'line')
    return shownSums.map((sum, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(sum)}`).join('')
  const barWidth = Math.round(step * 8) / 10
  return shownSums.map((sum, index) => `M${x(index)} ${y(0)}V${y(sum)}h${barWidth}V${y(0)}z`).join('')
}
