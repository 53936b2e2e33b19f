import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'
import { chipsPart } from './table/conditions.ts'
import { tabsPart, trailTo } from './table/tabs.ts'
import { askOf, type AskView } from './table/view.ts'

export interface SqlView extends AskView {
  /** Of the rows as an Arrow stream. */
  readonly rowsAddress: string
  /** Of DuckDB for browsers: its worker and its module. */
  readonly engine: { readonly worker: string; readonly module: string; readonly arrow: string }
}

/** So many rows a browser is given. */
export const sqlRowsMax = 200_000

/** SQL on the rows of an ask, in the reader's own browser; nothing of it comes to the service. */
export function sqlPage(setting: Setting, view: SqlView): Html {
  const { addresses, words, assets } = setting
  const { dataset, table, rowsAddress, engine } = view
  const { count } = writtenIn(words)
  const title = `SQL: ${dataset.name}, ${table.name}`
  const main = html`
    <h1>${title}</h1>
    ${tabsPart(setting, table, 'sql', askOf(view))} ${chipsPart(setting, view)}
    <p class="lead">${words.sqlLead(count(sqlRowsMax))}</p>
    <noscript><p>${words.sqlNoScript}</p></noscript>
    <form
      class="console"
      data-console
      data-rows="${rowsAddress}"
      data-rows-max="${sqlRowsMax}"
      data-worker="${engine.worker}"
      data-module="${engine.module}"
      data-arrow="${engine.arrow}"
      data-starting="${words.sqlStarting}"
      data-running="${words.sqlRunning}"
      data-took="${words.sqlTook}"
      data-null="${words.null}"
      data-too-many="${words.tooMany(count(sqlRowsMax))}"
    >
      <label for="sql">${words.sqlQuery}</label>
      <textarea id="sql" name="sql" rows="6" spellcheck="false">
${`SELECT * FROM ${quotedTable(table.name)} LIMIT 100`}</textarea>
      <p>
        <button disabled>${words.sqlRun}</button>
        <button type="button" class="quiet" data-csv disabled>${words.sqlCsv}</button>
      </p>
      <p role="status" data-status></p>
    </form>
    <div class="scroll grid" data-result tabindex="0" role="region" aria-label="${words.sqlResult}"></div>
  `
  return framed(setting, {
    title,
    main,
    inLanguage: (other) => addresses.aspect(other, table, 'sql', askOf(view)),
    trail: trailTo(setting, dataset, table),
    script: assets.console,
  })
}

function quotedTable(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name}"`
}
