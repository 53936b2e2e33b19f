import { OutOfMemory, QueryTimeout } from '../../core/duckdb/errors.ts'
import { FileUnavailable } from '../../core/warehouse/stores/store.ts'
import { QueueFull } from '../base/queue.ts'
import { DamagedTable, TooCostly, TooLarge } from '../table/engine/errors.ts'
import {
  queryTooCostly,
  busy,
  damagedFiles,
  filesElsewhere,
  malformedAddress,
  Problem,
  unacceptableParameters,
} from '../http/problems.ts'
import { InvalidPage, InvalidQuery, MalformedQuery, QueryTooLong } from '../query/errors.ts'

/**
 * Converts errors from modules that know nothing of HTTP into problems; other errors stay unchanged.
 * @param wholeFile address of all rows as one file, for queries that are too large
 */
export function problemOf(error: unknown, wholeFile: string | null = null): unknown {
  const problem = matching(error, wholeFile)
  return problem === null ? error : Object.assign(problem, { cause: error })
}

function matching(error: unknown, wholeFile: string | null): Problem | null {
  if (error instanceof InvalidQuery) return unacceptableParameters(error.errors)
  // The text of Brasil.IO, which clients compare.
  if (error instanceof InvalidPage) return new Problem('invalid-page', 'Invalid page.')
  if (error instanceof MalformedQuery) return new Problem('malformed-address', malformedAddress)
  if (error instanceof QueryTooLong) return new Problem('address-too-long', error.message)
  if (error instanceof QueueFull) return busy('overloaded', error.message)
  if (error instanceof QueryTimeout) return queryTimeout(wholeFile)
  if (error instanceof TooCostly) return queryTooCostly(error.message, wholeFile)
  if (error instanceof TooLarge || error instanceof OutOfMemory) {
    return new Problem('page-too-large', new TooLarge().message)
  }
  if (error instanceof DamagedTable) return damagedFiles(error.table)
  if (error instanceof FileUnavailable) return filesElsewhere()
  return null
}

function queryTimeout(wholeFile: string | null): Problem {
  const problem = busy('query-timeout', 'The query took too long and was stopped.')
  if (wholeFile === null) return problem
  const detail = `${problem.message} Request less, or download all rows: ${wholeFile}.`
  return new Problem(problem.code, detail, problem.extras)
}
