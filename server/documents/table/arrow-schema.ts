import { inAlphabet } from '../../../core/warehouse/format/row-json.ts'
import { arrowFormat } from '../../formats/arrow.ts'
import type { TableDocument } from '../document.ts'

export const arrowSchema: TableDocument = {
  file: 'schema.arrow',
  name: 'Arrow Schema',
  description: 'The schema of its rows in Arrow, as a stream without rows.',
  contentType: arrowFormat.contentType,
  write: async (_writing, { table, report }) => {
    const choices = new Map(report?.fields.map((field) => [field.name, field.choices]))
    const writer = await arrowFormat.writer(
      inAlphabet(table.fields).map((field) => ({ field, choices: choices.get(field.name) ?? null })),
    )
    writer.finish()
    return Buffer.concat(writer.takeBytes())
  },
}
