import type { Catalog } from '../../../core/catalog/catalog.ts'
import type { IngestOptions } from '../../../ingest/run/options.ts'
import { outcomeLines, type Outcome } from '../../../ingest/job/report.ts'
import { getPage, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** Declaration of a table whose source is under test. */
export interface Declaration {
  readonly name?: string
  /** `name:type`, `name:decimal:precision:scale`, or the field as the catalog has it. */
  readonly fields: readonly (string | object)[]
  /** Order of the rows. Without it they keep the order of the source. */
  readonly order?: readonly string[]
  readonly source?: object
  readonly max_rejects?: number
  readonly may_be_empty?: boolean
}

/** A catalog of one dataset `d` whose tables (`t` where not named) keep the order of their sources. */
export function declared(...tables: readonly Declaration[]): Catalog {
  return catalogAround(
    tables.map((table) => ({ name: 't', order: [], ...table, fields: table.fields.map(fieldOf) })),
  )
}

/**
 * Result of a table: its rows, values in the order of the fields, or the message that explains why there are
 * none.
 */
export type Came =
  | { readonly rows: readonly unknown[][]; readonly notices: readonly string[] }
  | { readonly refused: readonly string[] }

/**
 * Ingests one table and reads all its rows through the API.
 * @param files name under SOURCES -> bytes; a text alone is `d/t.csv`
 */
export async function whatCame(
  declaration: Declaration,
  files: string | Uint8Array | Readonly<Record<string, string | Uint8Array>>,
  options: Partial<IngestOptions> = {},
): Promise<Came> {
  const catalog = declared(declaration)
  const isOne = typeof files === 'string' || files instanceof Uint8Array
  const shop = await workshop(catalog, isOne ? { 'd/t.csv': files } : files)
  const [outcome] = await shop.ingest(options)
  if (outcome?.status === 'failed') return { refused: withoutTable(faultLines(outcome)) }
  if (outcome?.status !== 'published')
    throw new Error(`neither published nor refused: ${String(outcome?.status)}`)
  const service = await serve(shop)
  const { results, count } = await getPage(service.app, '/api/v1/dataset/d/t/data/?page_size=10000')
  await service.close()
  const names = outcome.table.fields.map(({ name }) => name)
  const rows = results.map((row) => names.map((name) => row[name]))
  if (count !== rows.length) throw new Error(`${count} rows are counted, and ${rows.length} are there`)
  return { rows, notices: outcomeLines(outcome).slice(1) }
}

/** Returns the lines of a failure, without its remedy and the path of its report. */
export function faultLines(outcome: Outcome | undefined): string[] {
  if (outcome === undefined) return []
  return outcomeLines(outcome).filter((line) => !/^ {2}(report|remedy): /.test(line))
}

function withoutTable([first = '', ...rest]: readonly string[]): string[] {
  return [first.replace('d/t: FAILED, ', ''), ...rest]
}

/** Rows that came without a word about them. */
export const rows = (...records: readonly unknown[][]): Came => ({ rows: records, notices: [] })

/** A reason for the source as a whole. */
export const refused = (...lines: readonly string[]): Came => ({ refused: lines })

/** A source whose structure is broken at a line. */
export const broken = (line: number, reason: string): Came =>
  refused('the source cannot be read as CSV; nothing was published', `  line ${line}: ${reason}`)

/** A source with bad rows, each reported in a line. */
export const bad = (...lines: readonly string[]): Came =>
  refused(
    `${lines.length === 1 ? 'a row does' : `${lines.length} rows do`} not match the catalog; nothing was published`,
    ...lines.map((line) => `  ${line}`),
  )

/** A source whose header is another; a column twice, or no column of the table, cannot be accepted. */
export const misfit = (problems: string, hint = '', file = ''): Came =>
  refused(
    `the header${file === '' ? '' : ` of ${file}`} in line 1 does not match the catalog: ${problems}. ${hint}Remedy: change the source, or the fields (or source.rename, source.ignore) of the table in the catalog` +
      (!/appears twice|source\.drop|"a" is missing; the column "b" is missing/.test(problems)
        ? '; `acervo ingest --accept-drift d/t` publishes it, with nulls for missing columns and without unknown ones'
        : ''),
  )

/** Advice in a message about a first line that may be a title. */
export const titleHint = 'Line 1 may be a title: source.skip_lines: 1 leaves it out. '

/** Rows of which the last is not terminated, which is reported. */
export const unended = (file: string, ...records: readonly unknown[][]): Came => ({
  rows: records,
  notices: [`  warning: the last line of ${file} has no line ending: check that the file is complete`],
})
