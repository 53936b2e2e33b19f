import { counted } from '../../../core/text.ts'
import type { WholeDocument } from '../document.ts'

export const llms: WholeDocument = {
  file: 'llms.txt',
  name: 'llms.txt',
  description: 'Overview in Markdown, for language models.',
  contentType: 'text/markdown; charset=utf-8',
  write: ({ catalog, base, documents, rows, files }, views) => {
    const listedViews = views.filter(({ dataset }) => dataset.listedIn.size > 0)
    return [
      `# ${inLine(catalog.title)}`,
      '',
      `> ${inLine(catalog.description || catalog.title)}`,
      '',
      inLine(catalog.notice),
      '',
      '## Datasets',
      '',
      ...listedViews.map(
        ({ dataset, tables }) =>
          `- [${inLine(dataset.name)}](${rows.dataset(dataset)}): ${inLine(dataset.description)} Tables: ` +
          `${tables.map(({ table, manifest }) => `${table.name} (${manifest === null ? 'not published' : counted(manifest.rows, 'row')})`).join(', ') || 'none'}.`,
      ),
      '',
      '## Tables',
      '',
      ...listedViews.flatMap(({ dataset, tables }) =>
        tables
          .filter(({ manifest }) => manifest !== null)
          .map(
            ({ table }) =>
              `- [${dataset.slug}/${table.name}](${rows.table(dataset, table)}): ${table.title === null ? '' : `${inLine(table.title)}; `}fields, filters and orders; [rows](${rows.data(dataset, table)}), [whole table as CSV](${files.download(table)})`,
          ),
      ),
      '',
      '## Reference',
      '',
      ...catalog.families.map(
        ({ name, prefix }) =>
          `- [OpenAPI, ${name}](${base}${prefix}/openapi.json): all addresses, parameters and errors`,
      ),
      `- [API catalog](${documents.ofService('.well-known/api-catalog')}): links to all of them`,
      '',
      '## Optional',
      '',
      `- [DCAT-AP](${documents.catalog('jsonld')}): the catalog for harvesters`,
      `- [Changes](${documents.feed()}): an Atom feed`,
      `- [DuckDB](${files.base}/warehouse.duckdb): a file to attach, with a view per table`,
      '',
    ].join('\n')
  },
}

function inLine(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(/[\\[\]<>`]/g, String.raw`\$&`)
    .trim()
}
