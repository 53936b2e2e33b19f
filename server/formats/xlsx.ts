import { copiesNothing, type LineFormat } from './format.ts'
import { packWorkbook } from './workbook.ts'
import { cellOf, cellSql } from './xlsx-cells.ts'

/**
 * Excel workbook (ECMA-376). Numbers and dates keep their type. A value that Excel would change is a text: a
 * number of more than 15 digits, a day before March 1900, a moment with microseconds.
 */
export const xlsxFormat: LineFormat = {
  name: 'xlsx',
  mediaTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ending: 'xlsx',
  keepsColumnOrder: true,
  savedAs: 'attachment',
  line: (fields) => `concat('<row>', ${fields.map(cellSql).join(', ')}, '</row>')`,
  stored: {
    isJson: false,
    around: { before: '<row>', between: '', after: '</row>' },
    before: () => '',
    copies: () => copiesNothing,
    value: cellOf,
    null: '<c/>',
  },
  separator: '\n',
  // The tags around a cell take about as much space as a repeated name.
  repeatsNames: true,
  head: () => '',
  tail: () => '',
  pack: packWorkbook,
}
