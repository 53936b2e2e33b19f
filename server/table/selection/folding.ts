import { foldedSql } from '../../../core/folding.ts'
import type { Pool } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import { Cache } from '../../base/cache.ts'

/** Cached, since all pages of a result have the same words. */
const foldedTexts = new Cache<{ readonly text: string }>(1_000_000, ({ text }) => 64 + 2 * text.length)

/** Folds ASCII here, other texts with DuckDB, which also folds the stored values. */
export async function foldedText(part: string, pool: Pool, requester: Requester): Promise<string> {
  // oxlint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(part)) return part.toLowerCase()
  const cachedText = foldedTexts.get(part)
  if (cachedText !== undefined) return cachedText.text
  const plan = { sql: `select ${foldedSql('$1::varchar')}`, parameters: [part], reads: null }
  const { rows } = await pool.rows(plan, requester.client, requester.signal())
  const text = String(rows[0]?.[0])
  foldedTexts.set(part, { text })
  return text
}
