import type { LineFormat } from './format.ts'
import { rowJson } from '../../core/warehouse/format/row-json.ts'
import { storedJson } from './json.ts'

export const ndjsonFormat: LineFormat = {
  name: 'ndjson',
  mediaTypes: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
  contentType: 'application/x-ndjson',
  ending: 'ndjson',
  savedAs: null,
  line: rowJson,
  stored: storedJson,
  separator: '\n',
  repeatsNames: true,
  head: () => '',
  tail: (rows) => (rows === 0 ? '' : '\n'),
}
