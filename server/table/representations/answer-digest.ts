import { createHash } from 'node:crypto'
import { tableId } from '../../../core/catalog/catalog.ts'
import { quotedName } from '../../../core/sql.ts'
import type { AggregateQuery } from '../../query/aggregate-query.ts'
import type { RowQuery } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Requester } from '../engine/requester.ts'
import { checkScanBudget } from '../selection/scan-budget.ts'
import { costOf, planOver, scanOf } from '../selection/access/duckdb/statements.ts'
import { aggregate } from './aggregate-page.ts'
import type { RowEngine } from './page.ts'

/** Size and hash of an answer; the order of groups matters, that of rows does not. */
export interface AnswerDigest {
  readonly count: number
  readonly hash: string
}

export type Question = RowQuery | AggregateQuery

const digestsMax = 10_000

const digestsByManifest = new WeakMap<Snapshot['manifest'], Map<string, AnswerDigest>>()

/** Each query reads a snapshot once, however many clients follow it. */
export async function answerDigest(
  snapshot: Snapshot,
  question: Question,
  engine: RowEngine,
  requester: Requester,
): Promise<AnswerDigest> {
  const key = JSON.stringify([tableId(snapshot.table), [...question.parameters]])
  const digests = digestsByManifest.get(snapshot.manifest) ?? new Map<string, AnswerDigest>()
  digestsByManifest.set(snapshot.manifest, digests)
  const cachedDigest = digests.get(key)
  if (cachedDigest !== undefined) return cachedDigest
  const answer =
    'terms' in question
      ? await groupsDigest(snapshot, question, engine, requester)
      : await rowsDigest(snapshot, question, engine, requester)
  const [oldest] = digests.keys()
  if (digests.size >= digestsMax && oldest !== undefined) digests.delete(oldest)
  digests.set(key, answer)
  return answer
}

async function groupsDigest(
  snapshot: Snapshot,
  query: AggregateQuery,
  engine: RowEngine,
  requester: Requester,
): Promise<AnswerDigest> {
  const { groups, selected } = await aggregate(snapshot, query, engine, requester)
  const hash = createHash('sha256')
  for (const group of selected)
    hash.update(JSON.stringify(groups.columns.map((column) => column[group] ?? null)))
  return { count: selected.length, hash: hash.digest('hex') }
}

async function rowsDigest(
  snapshot: Snapshot,
  query: RowQuery,
  { scans }: RowEngine,
  requester: Requester,
): Promise<AnswerDigest> {
  const { rows } = snapshot.manifest
  const scan = scanOf(snapshot, { from: 0, to: rows })
  if (scan.parts.length === 0) return { count: 0, hash: '' }
  const cost = costOf(snapshot, scan, query) + rows * query.fields.length
  await checkScanBudget(cost, scans.valuesMax, snapshot, requester)
  const columns = query.fields.map(({ name }) => quotedName(name))
  const plan = planOver(
    snapshot,
    scan,
    query,
    ({ from, where }) =>
      `select count(*)::integer, coalesce(sum(hash(${columns.join(', ')})), 0)::varchar from ${from} where ${where}`,
  )
  const answer = await scans.pool.rows(plan, requester.client, requester.signal())
  const [count, hash] = answer.rows[0] ?? []
  return { count: Number(count), hash: String(hash) }
}
