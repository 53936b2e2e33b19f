import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { quotedText } from '../../../core/sql.ts'
import { readCsvOptions } from '../../formats/csv.ts'
import type { PageContext } from '../frame.ts'
import { html, type Html, codePart } from '../html.ts'
import { rowParameters, type TableView } from './view.ts'

interface CodeView extends Pick<TableView, 'table' | 'query' | 'exportAddress' | 'dataAddress'> {
  readonly count: number
}

export function codesPart({ words }: PageContext, view: CodeView): Html {
  return html`<section id="code">
    <h2>${words.asCode}</h2>
    ${view.count > view.table.exportRowsMax && html`<p>${words.asCodePage}</p>`}
    ${snippetsOf(view).map(
      ({ name, text }) =>
        html`<details>
          <summary>${name}</summary>
          ${codePart(text, words)}
        </details>`,
    )}
  </section>`
}

interface Snippet {
  readonly name: string
  readonly text: string
}

function snippetsOf(view: CodeView): Snippet[] {
  const { table } = view
  const { columns: fields } = view.query
  const addressAs = (format: string): string => rowsAddress(view, format)
  return [
    { name: 'Google Sheets', text: `=IMPORTDATA("${addressAs('csv')}")` },
    { name: 'Excel, Power BI: Power Query', text: powerQuery(view) },
    { name: 'curl', text: `curl -fsSL '${addressAs('csv')}' -o ${table.name}.csv` },
    {
      name: 'Python: pandas',
      text: [
        'import urllib.request',
        'import pandas as pd, pyarrow.ipc',
        '',
        `with urllib.request.urlopen("${addressAs('arrow')}") as answer:`,
        '    rows = pyarrow.ipc.open_stream(answer).read_pandas(types_mapper=pd.ArrowDtype)',
      ].join('\n'),
    },
    {
      name: 'Python: polars',
      text: [
        'import io, urllib.request',
        'import polars as pl',
        '',
        `with urllib.request.urlopen("${addressAs('arrow')}") as answer:`,
        '    rows = pl.read_ipc_stream(io.BytesIO(answer.read()))',
      ].join('\n'),
    },
    {
      name: 'R',
      text: [
        'rows <- read.csv(',
        `  "${addressAs('csv')}",`,
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
        `  '${addressAs('csv')}',`,
        `  ${readCsvOptions},`,
        `  types = {${fields.map((field) => `${quotedText(field.name)}: '${storedOf(field)}'`).join(', ')}}`,
        ');',
      ].join('\n'),
    },
    {
      name: 'JavaScript',
      text: [
        `const answer = await fetch('${addressAs('ndjson')}')`,
        'const lines = (await answer.text()).split("\\n").filter((line) => line !== "")',
        'const rows = lines.map((line) => JSON.parse(line))',
      ].join('\n'),
    },
  ]
}

function powerQuery(view: CodeView): string {
  const { table, query, count, dataAddress } = view
  const types = query.columns.map((field) => `{${quotedM(field.name)}, ${typeInM(field)}}`).join(', ')
  if (count <= table.exportRowsMax)
    return `let
    Source = Csv.Document(Web.Contents(${quotedM(rowsAddress(view, 'csv'))}), [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),
    Names = Table.PromoteHeaders(Source, [PromoteAllScalars = true]),
    Rows = Table.TransformColumnTypes(Names, {${types}}, "en-US")
in
    Rows`
  const firstPageAddress = dataAddress(
    new Map([...rowParameters(view), ['page_size', String(pageRowsMax)], ['format', 'json']]),
    1,
  )
  return `let
    Get = (address) => Json.Document(Web.Contents(address)),
    Pages = List.Generate(() => Get(${quotedM(firstPageAddress)}), each _ <> null, each if [next] = null then null else Get([next]), each [results]),
    Names = Table.FromRecords(List.Combine(Pages)),
    Rows = Table.TransformColumnTypes(Names, {${types}}, "en-US")
in
    Rows`
}

const pageRowsMax = 10_000

function typeInM({ type, kind }: Field): string {
  const { moment, wire } = typeRow(type)
  if (moment === 'date' || kind === 'date') return 'type date'
  if (moment === 'datetime') return 'type datetime'
  if (wire.kind === 'truth') return 'type logical'
  if (wire.kind !== 'number') return 'type text'
  return type === 'integer' ? 'Int64.Type' : 'type number'
}

function quotedM(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

function rowsAddress(view: CodeView, format: string): string {
  const { count, table } = view
  const parameters = new Map([...rowParameters(view), ['format', format]])
  return count <= table.exportRowsMax ? view.exportAddress(parameters) : view.dataAddress(parameters, 1)
}

function storedOf(field: Field): string {
  return typeRow(field.type).stored(field)
}

function quotedR(name: string): string {
  return `\`${name.replaceAll('\\', String.raw`\\`).replaceAll('`', String.raw`\``)}\``
}
