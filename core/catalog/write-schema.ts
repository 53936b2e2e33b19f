import { writeFile } from 'node:fs/promises'
import { catalogJsonSchema } from './definition.ts'

/** `npm run schema`: writes the JSON Schema of catalog.yaml for editors. */
await writeFile('core/catalog/catalog.schema.json', `${JSON.stringify(catalogJsonSchema(), null, 2)}\n`)
