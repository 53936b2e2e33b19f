import { titleOf } from '../documents/words/titles.ts'
import { type Dataset, type Table } from '../../core/catalog/catalog.ts'
import { spanOf } from '../../core/catalog/names.ts'
import type { SourceCheck } from '../../core/warehouse/state-files.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { PageContext } from './frame.ts'
import { coverageOf, plausibleCollection } from './coverage.ts'
import { html, stackedTable, type Html } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'

export interface TableProvenance {
  readonly table: Table
  readonly manifest: Manifest
  readonly report: SnapshotReport | null
  /** Latest check without a new snapshot; null if unknown. */
  readonly lastCheck: SourceCheck | null
}

const dayMs = 86_400_000
const rejectsMax = 10

/** Compares the declared frequency of a dataset with its dates. */
export function freshnessPart(
  { words }: PageContext,
  dataset: Dataset,
  tables: readonly TableProvenance[],
  today: string,
): Html {
  // If the source never changed, the data is as old as its collection. Older manifests do not say when it changed.
  const changeDates = tables.flatMap(({ manifest }) => manifest.changed_at ?? []).toSorted()
  const latestChange = changeDates.at(-1)
  const hasOnlyFirstSnapshots = tables.every(({ manifest }) => manifest.previous === null)
  const collectionDates = tables.map(({ manifest }) => manifest.collected_at).toSorted()
  const ageMs = Date.parse(today) - Date.parse(latestChange ?? collectionDates.at(-1) ?? '')
  const tableFrequencies = new Set(tables.map(({ table }) => table.refreshed))
  const frequency =
    dataset.frequency ?? (tableFrequencies.size === 1 ? ([...tableFrequencies][0] ?? null) : null)
  const spanMs = frequency === null ? null : spanOf[frequency]
  const { day, count } = writtenIn(words)
  return html`${frequency === null ? words.noPromise : words.promise(words.frequencies[frequency])}
  ${latestChange === undefined ? hasOnlyFirstSnapshots && words.unchanged : words.changedLast(day(latestChange))}
  ${spanMs !== null && ageMs > 2 * spanMs && html`<strong class="late">${words.late(count(Math.floor(ageMs / dayMs)))}</strong>`}`
}

/** Dates of each table, and findings of the ingest. */
export function provenancePart(context: PageContext, tables: readonly TableProvenance[]): Html | null {
  if (tables.length === 0) return null
  const { words } = context
  return html`<section id="truth">
    <h2>${words.updates}</h2>
    ${stackedTable(
      words.updates,
      [words.table, words.collected, words.imported, words.checked, words.changed, words.leftOut],
      tables.map((truth) => provenanceLine(context, truth)),
    )}
    <p class="facts">${words.datesMean}</p>
    ${tables.map((truth) => reportPart(context, truth))}
  </section>`
}

export function hasChangedRows({ changes: [latest] = [] }: Manifest): boolean {
  return latest !== undefined && latest.added + latest.removed + latest.changed > 0
}

function provenanceLine(
  { words, addresses, language }: PageContext,
  { table, manifest, report, lastCheck }: TableProvenance,
): Html {
  const { count } = writtenIn(words)
  const collectionDate = plausibleCollection(manifest.collected_at, coverageOf(table, report))
  const laterCheck = lastCheck !== null && lastCheck.at > manifest.import_date ? lastCheck : null
  return html`<tr>
    <th scope="row">${titleOf(table)}</th>
    <td data-label="${words.collected}">${collectionDate === null ? '–' : dayPart(words, collectionDate)}</td>
    <td data-label="${words.imported}">${dayPart(words, manifest.import_date)}</td>
    <td data-label="${words.checked}">
      ${dayPart(words, laterCheck?.at ?? manifest.import_date)}
      ${laterCheck !== null && html`<span class="facts">${words.checkOutcomes[laterCheck.outcome]}</span>`}
    </td>
    <td data-label="${words.changed}">
      ${changedPart(words, manifest)}
      ${
        hasChangedRows(manifest) &&
        html`<a href="${addresses.aspect(language, table, 'changes')}">${words.whatChanged}</a>`
      }
    </td>
    <td class="number" data-label="${words.leftOut}">
      ${report === null ? '–' : count(report.rejected_rows)}
    </td>
  </tr>`
}

function changedPart(words: PageContext['words'], { changed_at: changed, previous }: Manifest): Html {
  if (changed !== undefined) return dayPart(words, changed)
  return html`${previous === null ? words.notChanged : '–'}`
}

function dayPart(words: PageContext['words'], date: string): Html {
  const { day, moment } = writtenIn(words)
  return html`<time datetime="${date}" title="${date.length > 10 ? moment(date) : date}">${day(date)}</time>`
}

function reportPart({ words }: PageContext, { table, report }: TableProvenance): Html | null {
  if (report === null) return null
  const { rejected_rows: rejected, first_rejects: rejects, accepted_drift: drift, warnings } = report
  if (rejected === 0 && drift.length === 0 && warnings.length === 0) return null
  const { count } = writtenIn(words)
  return html`<details>
    <summary>${words.reportOf(titleOf(table))}</summary>
    ${rejected > 0 && html`<p>${words.rejected(count(rejected))}</p>`}
    ${
      rejects.length > 0 &&
      html`<ul lang="en">
        ${rejects.slice(0, rejectsMax).map(
          ({ line, field, text, reason }) =>
            html`<li>
              <span lang="${words.locale}">${words.line}</span>
              ${count(line)}${typeof field === 'string' && html`, <code>${field}</code>`}:
              ${typeof text === 'string' && html`<q class="whole" dir="auto">${text.slice(0, 200)}</q>`}
              ${reason}
            </li>`,
        )}
      </ul>`
    }
    ${
      drift.length > 0 &&
      html`<p>${words.drift}</p>
        ${sentences(drift)}`
    }
    ${
      warnings.length > 0 &&
      html`<p>${words.warnings}</p>
        ${sentences(warnings)}`
    }
  </details>`
}

function sentences(texts: readonly string[]): Html {
  return html`<ul lang="en">
    ${texts.map((text) => html`<li class="whole" dir="auto">${text}</li>`)}
  </ul>`
}
