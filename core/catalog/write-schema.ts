import { readFile, writeFile } from 'node:fs/promises'
import { catalogJsonSchema } from './catalog.ts'
import { catalogKeys, type DescribedSchema } from './catalog-keys.ts'

/** `npm run schema`: writes the JSON Schema of catalog.yaml for editors, and the tables of keys in the docs. */

const schema = catalogJsonSchema() as DescribedSchema
await writeFile('core/catalog/catalog.schema.json', `${JSON.stringify(schema, null, 2)}\n`)

const page = 'docs/reference/catalog.md'
let text = await readFile(page, 'utf8')
for (const [header, keys] of Object.entries(catalogKeys(schema))) {
  const lines = keys.map(([key, meaning]) => `| \`${key}\` | ${meaning} |`)
  const table = [`| ${header} | meaning |`, '| --- | --- |', ...lines, ''].join('\n')
  text = text.replace(new RegExp(`^\\| ${header} .*\\n(?:\\|.*\\n)*`, 'm'), () => table)
}
await writeFile(page, text)
