import { arrowFormat } from './arrow.ts'
import { csvFormat } from './csv.ts'
import { csvExcelFormat } from './csv-excel.ts'
import type { RowFormat } from './format.ts'
import { jsonFormat } from './json.ts'
import { ndjsonFormat } from './ndjson.ts'
import { xlsxFormat } from './xlsx.ts'

export const rowFormats: readonly [RowFormat, ...RowFormat[]] = [
  jsonFormat,
  csvFormat,
  ndjsonFormat,
  arrowFormat,
  csvExcelFormat,
  xlsxFormat,
]
