import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { quotedText } from '../../../core/sql.ts'
import type { PageContext } from '../frame.ts'
import { html, type Html, codePart } from '../html.ts'
import { rowParameters, type TableView } from './view.ts'

/** Shows code that loads these rows into a program. */
export function codesPart({ words }: PageContext, view: TableView): Html {
  const codes = codesOf(view)
  return html`<section id="code">
    <h2>${words.asCode}</h2>
    ${view.range.count > view.table.exportRowsMax && html`<p>${words.asCodePage}</p>`}
    ${codes.map(
      ({ name, text }) =>
        html`<details>
          <summary>${name}</summary>
          ${codePart(text, words)}
        </details>`,
    )}
  </section>`
}

interface Code {
  readonly name: string
  readonly text: string
}

/**
 * Returns code in several languages. Each example runs unchanged and loads the same rows in the same order,
 * with declared types where the format has types.
 */
function codesOf(view: TableView): Code[] {
  const { downloadFields: fields, table } = view
  const to = (format: string): string => rowsAddress(view, format)
  return [
    { name: 'curl', text: `curl -fsSL '${to('csv')}' -o ${table.name}.csv` },
    {
      name: 'Python: pandas',
      text: [
        'import urllib.request',
        'import pandas as pd, pyarrow.ipc',
        '',
        `with urllib.request.urlopen("${to('arrow')}") as answer:`,
        '    rows = pyarrow.ipc.open_stream(answer).read_pandas(types_mapper=pd.ArrowDtype)',
      ].join('\n'),
    },
    {
      name: 'Python: polars',
      text: [
        'import io, urllib.request',
        'import polars as pl',
        '',
        `with urllib.request.urlopen("${to('arrow')}") as answer:`,
        '    rows = pl.read_ipc_stream(io.BytesIO(answer.read()))',
      ].join('\n'),
    },
    {
      name: 'R',
      text: [
        'rows <- read.csv(',
        `  "${to('csv')}",`,
        '  check.names = FALSE, na.strings = "", encoding = "UTF-8",',
        `  colClasses = c(${fields.map((field) => `${quotedR(field.name)} = "${typeRow(field.type).called.r}"`).join(', ')})`,
        ')',
      ].join('\n'),
    },
    {
      name: 'DuckDB',
      text: [
        'INSTALL httpfs;',
        'LOAD httpfs;',
        'FROM read_csv(',
        `  '${to('csv')}',`,
        `  header = true, delim = ',', quote = '"', escape = '"', allow_quoted_nulls = false,`,
        `  types = {${fields.map((field) => `${quotedText(field.name)}: '${storedOf(field)}'`).join(', ')}}`,
        ');',
      ].join('\n'),
    },
    {
      name: 'JavaScript',
      text: [
        `const answer = await fetch('${to('ndjson')}')`,
        'const lines = (await answer.text()).split("\\n").filter((line) => line !== "")',
        'const rows = lines.map((line) => JSON.parse(line))',
      ].join('\n'),
    },
  ]
}

/** Returns the address of all rows of the query, or of the current page if there are too many for an export. */
function rowsAddress(view: TableView, format: string): string {
  const { range, table, query } = view
  if (range.count <= table.exportRowsMax)
    return view.exportAddress(new Map([...rowParameters(view), ['format', format]]))
  return view.dataAddress(
    new Map([...query.parameters, ['page_size', String(query.pageSize)], ['format', format]]),
    range.page,
  )
}

function storedOf(field: Field): string {
  return typeRow(field.type).stored(field)
}

function quotedR(name: string): string {
  return `\`${name.replaceAll('\\', String.raw`\\`).replaceAll('`', String.raw`\``)}\``
}
