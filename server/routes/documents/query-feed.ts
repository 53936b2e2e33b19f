import type { Dataset, Table } from '../../../core/catalog/catalog.ts'
import type { Change } from '../../documents/atom.ts'
import { wordsOf } from '../../documents/words/all.ts'
import { describeFilter } from '../../documents/words/filter-text.ts'
import { withQuery } from '../../http/addresses.ts'
import { parseAggregateQuery } from '../../query/aggregate-query.ts'
import { withoutReservedNames, changesParameterNames } from '../../query/changes-query.ts'
import { unavailableNow } from '../find.ts'
import { parametersOf } from '../../query/parameters.ts'
import { parseRowQuery } from '../../query/query.ts'
import type { Language } from '../../../core/catalog/names.ts'
import type { SnapshotId } from '../../../core/warehouse/layout.ts'
import type { Manifest } from '../../../core/warehouse/manifest.ts'
import { answerDigest, type AnswerDigest, type Question } from '../../table/representations/answer-digest.ts'
import type { Requester } from '../../table/engine/requester.ts'
import type { DocumentService } from './service.ts'

/** Feeds of a query: an entry for each snapshot in which its answer changed. */

const excludedNames = ['page', 'page_size', 'snapshot', 'format'] as const

const answersMax = 10

export function questionIn(table: Table, target: string): Question | null {
  const names = parametersOf(target).map(([name]) => name)
  if (names.length === 0) return null
  const isGrouped = names.some((name) => name === 'group' || name === 'measure')
  // The order of rows changes no answer.
  const question = isGrouped
    ? parseAggregateQuery(table, target, excludedNames)
    : parseRowQuery(table, target, [...excludedNames, 'ordering', 'order-by'])
  return question.parameters.size === 0 ? null : question
}

export function subtitleOf(question: Question, language: Language): string {
  return describeFilter('terms' in question ? question.filter : question, wordsOf[language]).join(', ')
}

const idsByManifest = new WeakMap<Manifest, Map<string, Promise<readonly SnapshotId[]>>>()
const queriesMax = 10_000

/**
 * Snapshots in which the answer to a query changed. They are the key of its feed, which stays the same until the
 * answer changes. Rows are read once per query and snapshot.
 */
export async function entriesOf(
  service: DocumentService,
  dataset: Dataset,
  table: Table,
  question: Question,
  requester: Requester,
): Promise<readonly SnapshotId[]> {
  const manifest = service.snapshots.current(table)?.manifest
  if (manifest === undefined) return []
  const byQuery = idsByManifest.get(manifest) ?? new Map<string, Promise<readonly SnapshotId[]>>()
  idsByManifest.set(manifest, byQuery)
  const key = JSON.stringify([...question.parameters])
  // Another client's failure, such as a used-up quota, must not fail this client.
  const cachedIds = await byQuery.get(key)?.catch(() => undefined)
  if (cachedIds !== undefined) return cachedIds
  const ids = answerChanges(service, dataset, table, question, requester).then((changes) =>
    changes.map((change) => change.manifest.snapshot),
  )
  if (byQuery.size >= queriesMax) byQuery.clear()
  byQuery.set(key, ids)
  ids.catch(() => byQuery.delete(key))
  return ids
}

interface RetainedAnswer extends Pick<Change, 'manifest' | 'report'> {
  readonly digest: AnswerDigest
}

function differencesAddress(changes: string, { parameters }: Question, from: Manifest, to: Manifest): string {
  const ends = Object.entries({ since: from.snapshot, to: to.snapshot })
  return withQuery(changes, new Map([...withoutReservedNames(parameters, changesParameterNames), ...ends]), 1)
}

/** Retained snapshots whose answer differs from the one before, latest first. */
export async function answerChanges(
  { snapshots, engine, writing }: DocumentService,
  dataset: Dataset,
  table: Table,
  question: Question,
  requester: Requester,
): Promise<Change[]> {
  const retainedSnapshots = (await snapshots.retainedSnapshots(table)).slice(0, answersMax)
  const answers: RetainedAnswer[] = []
  for (const { manifest, report } of retainedSnapshots) {
    const digest = await snapshots.use(table, manifest.snapshot, async (snapshot) =>
      snapshot === null ? null : answerDigest(snapshot, question, engine, requester),
    )
    if (digest === null) {
      const { snapshot: id } = manifest
      if (snapshots.isKept(table, id) && !snapshots.hasOtherFields(table, id)) throw unavailableNow(table)
      // This snapshot has expired since, or has other fields, and so have all earlier ones.
      break
    }
    answers.push({ manifest, report, digest })
  }
  return answers.flatMap(({ manifest, report, digest }, index): Change[] => {
    const before = answers[index + 1]
    // Without a predecessor, the oldest answer shows no change, unless its snapshot is the first.
    if (before === undefined ? manifest.previous !== null : before.digest.hash === digest.hash) return []
    const isGrouped = 'terms' in question
    const answer = {
      count: digest.count,
      before: before?.digest.count ?? null,
      parameters: question.parameters,
      isGrouped,
      differences:
        before === undefined || isGrouped
          ? null
          : differencesAddress(writing.rows.changes(dataset, table), question, before.manifest, manifest),
    }
    return [{ dataset, table, manifest, report, answer }]
  })
}
