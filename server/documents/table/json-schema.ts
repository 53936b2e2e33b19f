import type { TableDocument } from '../document.ts'
import { rowSchema } from '../row-schema.ts'

export const jsonSchema: TableDocument = {
  file: 'schema.json',
  name: 'JSON Schema',
  description: 'JSON Schema of a row.',
  contentType: 'application/schema+json',
  write: ({ documents }, view) => {
    const { dataset, table, manifest } = view
    return JSON.stringify({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: documents.ofTable(table, 'schema.json'),
      title: `${dataset.name}: ${table.title ?? table.name}`,
      description: table.description ?? `A row of ${table.name}.`,
      ...(manifest !== null && { $comment: `Snapshot ${manifest.snapshot}.` }),
      ...rowSchema(view),
    })
  },
}
