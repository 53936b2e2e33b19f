import { arrow } from './arrow.ts'
import { csv } from './csv.ts'
import { csvExcel } from './csv-excel.ts'
import type { RowFormat } from './format.ts'
import { json } from './json.ts'
import { ndjson } from './ndjson.ts'

/** Formats of pages and exports; the first one is the default. */
export const rowFormats: readonly [RowFormat, ...RowFormat[]] = [json, csv, ndjson, arrow, csvExcel]
