import type { Connection } from '../duckdb/connection.ts'
import { quotedName, quotedText } from '../sql.ts'
import type { Manifest } from './manifest.ts'

/** UTC times that a macro accepts: a year, or more exact times such as `2026-01-31 12:00`. */
const timePattern = String.raw`\d{4}(-\d\d(-\d\d([T ]\d\d(:\d\d(:\d\d(\.\d+)?)?)?Z?)?)?)?`

/**
 * Writes two macros for a table `t`: `t_at(version)` returns the rows of a version, by id or by time; a date
 * means its end. `t_versions()` lists the versions.
 * @param manifests retained versions, newest first
 * @param locationSql converts SQL of a path below the base into SQL of a location
 */
export async function writeVersionMacros(
  db: Connection,
  manifests: readonly Manifest[],
  locationSql: (path: string) => string,
): Promise<void> {
  const [{ dataset, table } = { dataset: '', table: '' }] = manifests
  const versions = manifests.map(({ snapshot, import_date: importTime, rows, parts }) => ({
    idSql: quotedText(snapshot),
    timeSql: quotedText(importTime),
    rows,
    filesSql:
      parts.length === 0
        ? `[error(${quotedText(`the version ${snapshot} of ${table} has no rows`)})]`
        : `[${parts.map(({ file }) => quotedText(`/${dataset}/${table}/${snapshot}/${file}`)).join(', ')}]`,
  }))
  const macroName = (suffix: string): string => `${quotedName(dataset)}.${quotedName(`${table}${suffix}`)}`
  const errorSql = (text: string): string =>
    `[error(${quotedText(text)} || version || ${quotedText(`: ${table}_versions() lists the versions`)})]`
  const casesById = versions.map(({ idSql, filesSql }) => `when ${idSql} then ${filesSql}`).join(' ')
  // Compares only the given digits, so that a date includes its times.
  const casesByTime = versions
    .map(
      ({ timeSql, filesSql }) =>
        `when left(${timeSql}, length(version::varchar)) <= replace(version::varchar, ' ', 'T') then ${filesSql}`,
    )
    .join(' ')
  await db.rows(`create macro ${macroName('_at')}(version) as table select * from read_parquet(list_transform(
    case version::varchar ${casesById}
    else case when not regexp_full_match(version::varchar, ${quotedText(timePattern)})
      then ${errorSql('not the id of a version, nor a time in UTC such as 2026-01-31: ')}
    ${casesByTime}
    else ${errorSql('no version is kept that was published at or before ')} end end,
    lambda path: ${locationSql('path')}))`)
  await db.rows(
    `create macro ${macroName('_versions')}() as table select * from (values ${versions
      .map(({ idSql, timeSql, rows }) => `(${idSql}, ${timeSql}::timestamp, ${rows}::bigint)`)
      .join(', ')}) as versions(version, imported, row_count)`,
  )
}
