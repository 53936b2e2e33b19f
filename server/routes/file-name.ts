import type { RowQuery } from '../query/query.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { contentName } from '../http/responder.ts'

const queryMax = 40
const notConditions = new Set(['format', 'snapshot', 'page'])

/**
 * Name such as `covid19-caso-state-SP-2026-01-02.csv`: table, short query, and UTC date of the import. If the
 * short form loses characters, a hash follows.
 */
export function fileNameOf(
  { table, manifest }: Snapshot,
  { parameters }: Pick<RowQuery, 'parameters'>,
  ending: string,
  page?: number | 'last',
): string {
  const pairs = [...parameters].filter(([name]) => !notConditions.has(name))
  const full = pairs.map(([name, value]) => `${name}-${value}`).join('-')
  const asciiText = full
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, queryMax)
  const hash =
    asciiText === full
      ? ''
      : contentName(full)
          .replaceAll(/[^A-Za-z0-9]/g, '')
          .slice(0, 6)
  const date = manifest.import_date.slice(0, 'YYYY-MM-DD'.length)
  const parts = [table.dataset, table.name, asciiText, hash, page === undefined ? '' : `page-${page}`, date]
  return `${parts.filter((part) => part !== '').join('-')}.${ending}`
}
