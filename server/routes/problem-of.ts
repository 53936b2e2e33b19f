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
 * Converts errors of modules that know nothing of HTTP into problems.
 * @param downloadUrl address of all rows as one file, for queries that are too large
 */
export function problemOf(error: unknown, downloadUrl: string | null = null): unknown {
  const problem = problemMatching(error, downloadUrl)
  return problem === null ? error : Object.assign(problem, { cause: error })
}

function problemMatching(error: unknown, downloadUrl: string | null): Problem | null {
  if (error instanceof InvalidQuery) return unacceptableParameters(error.errors)
  // Clients of Brasil.IO compare this text.
  if (error instanceof InvalidPage) return new Problem('invalid-page', 'Invalid page.')
  if (error instanceof MalformedQuery) return new Problem('malformed-address', malformedAddress)
  if (error instanceof QueryTooLong) return new Problem('address-too-long', error.message)
  if (error instanceof QueueFull) return busy('overloaded', error.message)
  if (error instanceof QueryTimeout) return queryTimeout(downloadUrl)
  if (error instanceof TooCostly) return queryTooCostly(error.message, downloadUrl)
  if (error instanceof TooLarge || error instanceof OutOfMemory) {
    return new Problem('page-too-large', new TooLarge().message)
  }
  if (error instanceof DamagedTable) return damagedFiles(error.table)
  if (error instanceof FileUnavailable) return filesElsewhere()
  return null
}

function queryTimeout(downloadUrl: string | null): Problem {
  const problem = busy('query-timeout', 'The query took too long and was stopped.')
  if (downloadUrl === null) return problem
  const detail = `${problem.message} Request less, or download all rows: ${downloadUrl}.`
  return new Problem(problem.code, detail, problem.extras)
}
