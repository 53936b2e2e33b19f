import type { Manifest } from '../../core/warehouse/manifest.ts'
import { invalidPage, type RowAsk } from './ask.ts'

/** Which rows of a snapshot, in which order. For now that is all of them, by position. */
export interface Selection {
  /** Exact. */
  readonly count: number
}

/** One page of a selection. */
export interface Slice {
  /** From 1. */
  readonly page: number
  readonly lastPage: number
  /** Index in the selection of its first row, from 0. */
  readonly first: number
  readonly rows: number
}

export function selectRows(manifest: Manifest): Selection {
  return { count: manifest.rows }
}

/** @throws Problem invalid-page past the end; an empty selection has a page 1 */
export function slicePage({ count }: Selection, { page: asked, pageSize }: RowAsk): Slice {
  const lastPage = Math.max(1, Math.ceil(count / pageSize))
  const page = asked === 'last' ? lastPage : asked
  if (page > lastPage) throw invalidPage()
  const first = (page - 1) * pageSize
  return { page, lastPage, first, rows: Math.min(pageSize, count - first) }
}
