import { quotedText } from '../../core/sql.ts'
import type { Conversion } from './conversion.ts'

export const scratchGroupRows = 131_072

/** SQL: `copy` options of a published Parquet file, with titles and units as metadata. */
export function partFormat(conversion: Conversion, groupRows: number): string {
  return `(${optionsOf(conversion, 'zstd', groupRows)}, kv_metadata {title: ${quotedText(conversion.table.title ?? conversion.table.name)}, fields: ${quotedText(titlesJson(conversion))}})`
}

export function scratchFormat(conversion: Conversion): string {
  const rows = Math.floor(groupValuesMax / conversion.fields.length / vectorRows) * vectorRows
  return `(${optionsOf(conversion, 'lz4_raw', Math.min(scratchGroupRows, Math.max(vectorRows, rows)))})`
}

function optionsOf(conversion: Conversion, codec: 'lz4_raw' | 'zstd', groupRows: number): string {
  const page = Math.floor(Math.min(dictionaryBytes, dictionariesBytesMax / conversion.fields.length))
  return `format parquet, codec ${codec}, row_group_size ${groupRows}, string_dictionary_page_size_limit ${page}`
}

/** Limits the metadata, which every query of a file reads. */
const titledFieldsMax = 500

function titlesJson({ fields }: Conversion): string {
  const titled = fields.slice(0, titledFieldsMax).flatMap(({ field: { name, title, unit } }) => {
    const texts = { ...(title !== null && { title }), ...(unit !== null && { unit }) }
    return Object.keys(texts).length === 0 ? [] : [[name, texts] as const]
  })
  return JSON.stringify(Object.fromEntries(titled))
}

/** Maximum values in a row group of a temporary file: each thread holds one group in memory. */
const groupValuesMax = 16_000_000
const vectorRows = 2048

const dictionaryBytes = 1024 * 1024
/** DuckDB allocates a dictionary per text column before it knows the number of values. */
const dictionariesBytesMax = 100_000_000
