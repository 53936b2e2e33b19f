import { measureTitle, titleOf, withinSentence } from '../documents/words/titles.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import { measureOf } from '../query/measures.ts'
import { dimensionsOf } from './chart/dimensions.ts'
import { framed, type PageContext } from './frame.ts'
import { html, type Html, textOf } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import { chipsPart } from './table/conditions.ts'
import { headPart, trailTo } from './table/tabs.ts'
import { rowParameters, withParameters, type QueryView } from './table/view.ts'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { withQuery } from '../http/addresses.ts'
import { timed } from '../http/responder.ts'
import type { Resource } from '../http/resource.ts'
import { answerQuery } from './table/answer-query.ts'
import { consolePolicy, named, pageAt, rowAddresses, type PageService } from './service.ts'
import { engineAddresses } from './browser/duckdb.ts'
import { formatList } from '../query/list.ts'
import { parseRowQuery, type RowQuery } from '../query/query.ts'
import { requesterOf } from '../routes/find.ts'

interface Engine {
  readonly worker: string
  readonly module: string
}

interface SqlView extends QueryView {
  readonly count: number
  /** Rows as an Arrow stream, without origin, since the page may fetch only from its own. */
  readonly rowsAddress: string
  /** Null if DuckDB for browsers is not installed. */
  readonly engine: Engine | null
}

/** Size of the rows that a browser receives, as estimated by `bytesPerRow`. */
const sqlBytesMax = 200_000_000

/** Estimates bytes in Arrow: texts, and eight bytes for each value. */
function bytesPerRow({ table, snapshot: { manifest } }: QueryView, fields: number): number {
  const share = fields / table.fields.length
  return 8 * fields + share * (manifest.textBytes / Math.max(1, manifest.rows))
}

function sqlHtml(context: PageContext, view: SqlView): Html {
  const { addresses, words, assets, language } = context
  const { dataset, table, count: rows, snapshot } = view
  const { manifest, report } = snapshot
  const rowsMaxOf = (fields: number): number =>
    Math.min(Math.floor(sqlBytesMax / bytesPerRow(view, fields)), table.exportRowsMax)
  const rowsMax = rowsMaxOf(view.query.fields.length)
  const mainColumns = table.defaultColumns ?? []
  const canReduceColumns =
    mainColumns.length > 0 && !view.query.parameters.has('fields') && rows <= rowsMaxOf(mainColumns.length)
  const { count } = writtenIn(words)
  const title = `SQL: ${dataset.name}, ${titleOf(table)}`
  const obstacle =
    view.engine === null
      ? words.sqlMissing
      : rows > rowsMax
        ? words.sqlTooMany(count(rows), count(rowsMax))
        : null
  const main = html`
    ${headPart(context, { dataset, table, manifest, report }, 'sql', rowParameters(view))}
    ${chipsPart(context, view)}
    ${
      view.engine === null || obstacle !== null
        ? html`<p class="lead">${obstacle}</p>
            <p>
              ${
                canReduceColumns &&
                html`<a
                    href="${addresses.aspect(language, table, 'sql', withParameters(view, { fields: formatList(mainColumns) }))}"
                    >${words.mainColumns}</a
                  >
                  ·`
              }
              <a href="${addresses.table(language, table, rowParameters(view))}">${words.filters}</a> ·
              <a href="${addresses.files(language, dataset)}">${words.filesOf}</a>
            </p>`
        : rows === 0
          ? html`<p class="lead">${words.nothing}</p>`
          : html`<p class="lead">${words.sqlLead(count(rows))}</p>
              ${consolePart(context, view, view.engine)}`
    }
  `
  return framed(context, {
    title,
    main,
    inLanguage: (target) => addresses.aspect(target, table, 'sql', rowParameters(view)),
    trail: trailTo(context, dataset),
    script: assets.console,
  })
}

interface Example {
  readonly title: string
  readonly sql: string
}

function examplesOf({ words }: PageContext, { table, snapshot, query }: SqlView): Example[] {
  const from = `FROM ${quotedName(table.name)}`
  const [dimension] = dimensionsOf(table, snapshot.report)
  const measures = [
    ...(table.chart === null ? [] : [table.chart.measure]),
    ...table.measures.map((name) => `${name}__sum`),
  ]
  const measure = measures.flatMap((name) => measureOf(table, name) ?? []).find(({ field }) => field !== null)
  const shortTextFields = table.fields.filter(({ type }) => typeRow(type).isText && type !== 'text')
  const frequentField =
    shortTextFields.find(({ name }) => name !== dimension?.field.name && table.filters.includes(name)) ??
    shortTextFields[0]
  const aggregateSql =
    measure?.field == null
      ? 'count(*) AS rows'
      : `${measure.aggregate}(${quotedName(measure.field.name)}) AS ${quotedName(measure.name)}`
  return [
    { title: words.firstRows, sql: `SELECT *\n${from}\nLIMIT 100` },
    ...(dimension === undefined
      ? []
      : [
          {
            title: words.drawn(
              measure === undefined ? words.rowsHead : measureTitle(words, measure, table),
              withinSentence(titleOf(dimension.field)),
            ),
            sql: `SELECT ${quotedName(dimension.field.name)}, ${aggregateSql}\n${from}${whereAsCharted(table, query)}\nGROUP BY ALL\nORDER BY 1`,
          },
        ]),
    ...(frequentField === undefined
      ? []
      : [
          {
            title: words.frequentValues(withinSentence(titleOf(frequentField))),
            sql: `SELECT ${quotedName(frequentField.name)}, count(*) AS rows\n${from}\nGROUP BY ALL\nORDER BY rows DESC\nLIMIT 20`,
          },
        ]),
  ]
}

/** The conditions with which a chart opens, so that both show the same sums. */
function whereAsCharted({ fields, totals, defaultFilter }: Table, { conditions }: RowQuery): string {
  const terms = fields.flatMap(({ name }) => {
    const [value, total] = [defaultFilter.get(name), totals.get(name)]
    if (conditions.some(({ field }) => field.name === name)) return []
    if (value !== undefined) return [`${quotedName(name)} = ${quotedText(value)}`]
    return total === undefined ? [] : [`${quotedName(name)} <> ${quotedText(total)}`]
  })
  return terms.length === 0 ? '' : `\nWHERE ${terms.join(' AND ')}`
}

function consolePart(context: PageContext, view: SqlView, engine: Engine): Html {
  const { words } = context
  const { table, query, rowsAddress } = view
  const examples = examplesOf(context, view)
  const first = examples[0]?.sql ?? ''
  return html`<noscript><p>${words.sqlNoScript}</p></noscript>
    <form
      class="console"
      data-console
      data-table="${table.name}"
      data-rows="${rowsAddress}"
      data-worker="${engine.worker}"
      data-module="${engine.module}"
      data-starting="${words.sqlStarting}"
      data-running="${words.sqlRunning}"
      data-took="${words.sqlTook}"
      data-failed="${words.sqlFailed}"
      data-wrong="${words.sqlWrong}"
      hidden
    >
      <p><label for="sql">${words.sqlQuery}</label></p>
      <textarea id="sql" rows="6" spellcheck="false">${first}</textarea>
      <p class="examples">
        ${words.examples}:
        ${examples.map(
          ({ title, sql }) =>
            html`<button type="button" class="quiet" data-example="${sql}">${title}</button> `,
        )}
      </p>
      <p>
        <button disabled>${words.sqlRun}</button>
        <button type="button" class="quiet" data-csv disabled>${words.sqlCsv}</button>
      </p>
      <p role="status" data-status></p>
    </form>
    <div class="scroll grid" data-result tabindex="0" role="region" aria-label="${words.sqlResult}"></div>
    <details>
      <summary>${words.sqlFields} (${query.fields.length})</summary>
      <ul class="columns-list">
        ${query.fields.map(({ name, type }) => html`<li><code>${name}</code> ${words.types[type]}</li>`)}
      </ul>
    </details>`
}

function parseSqlQuery(table: Table, target: string): RowQuery {
  return parseRowQuery(table, target, ['format', 'page', 'page_size'])
}

/** Runs SQL in the browser; the service never sees it. */
export function sqlPage(service: PageService): Resource {
  const { context, engine, pageBytesMax, publicUrl } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/sql', 'SQL'),
    countsAs: 'rows',
    find: (request) =>
      answerQuery(service, request, parseSqlQuery, (queryView) => {
        const { dataset, table, snapshot, query } = queryView
        const { snapshot: id } = snapshot.manifest
        const engineFiles = engineAddresses(publicUrl)
        const key = [tableId(table), id, [...query.parameters], engineFiles]
        return {
          ...named(service, ['sql', ...key], consolePolicy),
          body: async (signal) => {
            const requester = requesterOf(request, signal, pageBytesMax)
            const { count } = await engine.selections.find({ snapshot, filter: query, requester })
            const exportPath = new URL(rowAddresses(service).export(dataset, table)).pathname
            const rowsAddress = withQuery(
              exportPath,
              new Map([...query.parameters, ['format', 'arrow'], ['snapshot', id]]),
              1,
            )
            const view = { ...queryView, count, rowsAddress, engine: engineFiles }
            return timed(() => textOf(sqlHtml(context, view)))
          },
        }
      }),
  }
}
