import { languages } from '../../../core/catalog/names.ts'
import type { WholeDocument } from '../document.ts'

/** Crawlers (RFC 9309) may fetch files, with a delay, but no API rows, row pages or pages with a query. */
export const robots: WholeDocument = {
  file: 'robots.txt',
  name: 'Robots',
  description: 'Rules for crawlers.',
  contentType: 'text/plain; charset=utf-8',
  write: ({ catalog, base, documents }) => {
    const basePath = new URL(base).pathname.replace(/\/$/, '')
    const rows = catalog.families.flatMap(({ prefix }) =>
      ['data', 'export'].map((verb) => `${prefix}/dataset/*/*/${verb}`),
    )
    const pages = languages.flatMap((language) => [`/${language}/dataset/*/row/`, `/${language}/*?`])
    const [limit] = catalog.limits.rows
    return [
      `# ${catalog.notice}`,
      ...catalog.limits.rows.map(({ requests, per }) => `# Rows: at most ${requests} requests in ${per}.`),
      '# Whole tables are files: the links of each dataset page, the sitemap and the catalog link to them.',
      'User-agent: *',
      ...[...rows, ...pages].map((path) => `Disallow: ${basePath}${path}`),
      ...(limit === undefined
        ? []
        : [`Crawl-delay: ${Math.max(1, Math.ceil(limit.windowMs / 1000 / limit.requests))}`]),
      '',
      `Sitemap: ${documents.ofService('sitemap.xml')}`,
      '',
    ].join('\n')
  },
}
