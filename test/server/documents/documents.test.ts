import path from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { Parser } from 'n3'
import request from 'supertest'
import { parseCatalog } from '../../../core/catalog/load.ts'
import { Database } from '../../../core/duckdb/database.ts'
import { jsonAt, rawGet, serve, textAt, type Service } from '../../support/service.ts'
import {
  catalogAround,
  catalogText,
  fieldOf,
  temporaryFolder,
  tinyCatalog,
  workshop,
  type Workshop,
} from '../../support/workshop.ts'

/** Documents through the front door. What their consumers make of them is tested in test/consumers. */

/** Texts that mean something to XML, Turtle, JSON in HTML, Python, TypeScript and SQL. */
const hostile = `</script><script>alert(1)</script> ]]> "q" 'a' \\ & é \u0001 */ """ ; -- {x} <!--`

describe('documents of hostile texts:', () => {
  let app: Service['app']
  beforeAll(async () => {
    const definition = JSON.parse(
      catalogText([
        {
          name: 't',
          description: hostile,
          order: [],
          fields: [
            { name: 'a', type: 'integer', title: hostile, description: hostile, unit: hostile },
            { name: `b " ' <c>`, type: 'string', description: hostile },
          ],
        },
      ]),
    ) as { title: string; description: string; datasets: object[] }
    const metadata = {
      name: hostile,
      description: hostile,
      keywords: [hostile],
      publisher: { name: hostile, url: 'https://example.org/<a>"' },
      contact: { name: hostile, email: 'a@example.org' },
      spatial: { name: hostile, bbox: [-10, -20, 11, 21] },
      temporal: { start: '2020-01-01', end: '2020-12-31' },
      language: ['pt-BR'],
      themes: ['HEAL'],
    }
    const datasets = definition.datasets.map((dataset) => ({ ...dataset, ...metadata }))
    const catalog = parseCatalog(
      JSON.stringify({ ...definition, title: hostile, description: hostile, datasets }),
      'hostile.yaml',
    )
    const shop = await workshop(catalog, { 'd/t.csv': `a,"b "" ' <c>"\n1,x\n` })
    await shop.ingest()
    app = (await serve(shop)).app
  })

  test.each(['/feeds/atom.xml', '/feeds/d/t/atom.xml', '/opensearch.xml', '/sitemap.xml'])(
    '%s is valid XML',
    async (target) => {
      const text = await textAt(app, target)
      // No markup but ours, and no character that XML cannot hold.
      expect(text).not.toMatch(/<script|<!--|\]\]>/)
      expect(text.replaceAll(/[\t\n\r]/g, '')).not.toMatch(/\p{Cc}/u)
      expect(text.match(/&(?!amp;|lt;|gt;|quot;|#39;)/)).toBeNull()
    },
  )

  test('Turtle has the same content as JSON-LD', async () => {
    const quads = new Parser().parse(await textAt(app, '/metadata/d/dcat.ttl'))
    const literals = quads.flatMap(({ object }) => (object.termType === 'Literal' ? [object.value] : []))
    expect(literals.filter((value) => value === hostile).length).toBeGreaterThan(5)
    const graph = (await jsonAt(app, '/metadata/d/dcat.jsonld'))['@graph'] as Record<string, unknown>[]
    expect(graph[0]).toMatchObject({
      '@type': 'dcat:Dataset',
      'dct:title': [hostile],
      'dcat:keyword': [hostile],
    })
  })

  test('the JSON-LD in a page is complete, and no text ends its script element', async () => {
    const page = await textAt(app, '/en/dataset/d/', { Accept: 'text/html' })
    const [, data = ''] = /<script type="application\/ld\+json">([^<]*)<\/script>/.exec(page) ?? []
    expect(JSON.parse(data)).toEqual(
      expect.objectContaining({
        name: hostile,
        temporalCoverage: '2020-01-01/2020-12-31',
        // South, west, north, east.
        spatialCoverage: {
          '@type': 'Place',
          name: hostile,
          geo: { '@type': 'GeoShape', box: '-20 -10 21 11' },
        },
        license: 'https://example.org/',
      }),
    )
    expect(page.match(/<script/g)).toHaveLength(2)
  })

  test('no text breaks out of its line in generated types', async () => {
    const typescript = await textAt(app, '/metadata/d/t/types.ts')
    expect(typescript.split('\n').filter((line) => line.startsWith('export')).length).toBe(1)
    expect(typescript).not.toMatch(/\*\/ """/)
    const python = await textAt(app, '/metadata/d/t/types.py')
    expect(python).toMatch(/^T = TypedDict\("T", \{$/m)
    expect(await textAt(app, '/llms.txt')).not.toMatch(/^<|<script>/m)
  })

  test('the generated SQL creates the table', async () => {
    const scratch = await temporaryFolder()
    const database = await Database.open({ memory: '100MB', threads: 1, scratch, folders: [] })
    const db = await database.connect()
    const sql = await textAt(app, '/metadata/d/t/schema.sql')
    const statements = sql
      .split(/;\n(?=create|comment|--)/)
      .filter((statement) => !statement.startsWith('--'))
    for (const statement of statements) await db.rows(statement)
    expect(
      await db.rows("select column_name, data_type, comment from duckdb_columns() where table_name = 't'"),
    ).toEqual([
      ['a', 'BIGINT', `${hostile}: ${hostile} (${hostile})`],
      [`b " ' <c>`, 'VARCHAR', hostile],
    ])
    db.close()
    database.close()
  })
})

test('the generated SQL loads the rows of the download, where an empty text is no null', async () => {
  const shop = await workshop(
    catalogAround([
      {
        name: 't',
        order: ['n'],
        source: { nulls: ['NA'] },
        fields: ['n:integer', 's:string', 'l:list'].map(fieldOf),
      },
    ]),
    { 'd/t.csv': 'n,s,l\n1,"","[]"\n2,NA,NA\n3,"a ""b"", c;d","[""x""]"\n' },
  )
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error('not published')
  const sql = await textAt((await serve(shop)).app, '/metadata/d/t/schema.sql')
  const folders = [path.join(shop.warehouse, 'd', 't')]
  const database = await Database.open({
    memory: '100MB',
    threads: 1,
    scratch: await temporaryFolder(),
    folders,
  })
  const db = await database.connect()
  const file = path.join(folders[0] ?? '', outcome.manifest.snapshot, 't.csv.gz')
  const statements = sql.replace(/^-- (?=insert)/m, '').replace(/'http[^']*'/, `'${file}'`)
  for (const statement of statements.split(/;\n/)) if (statement.trim() !== '') await db.rows(statement)
  expect(await db.rows('select n::varchar, s, l::varchar from d.t order by n')).toEqual([
    ['1', '', '[]'],
    ['2', null, null],
    ['3', 'a "b", c;d', '["x"]'],
  ])
  db.close()
  database.close()
})

const now = (day: number): { now: () => Date } => ({ now: () => new Date(Date.UTC(2026, 5, day)) })

const table = { fields: ['n:integer', 's:string', 'd:decimal:8:2'], order: ['n'], max_rejects: 5 }
const first = 'n,s,d\n1,a,1.00\n2,b,2.00\n3,b,3.00\n'
const later = 'n,s,d\n1,a,1.00\n2,,2.00\nx,y,z\n4,c,4.00\n5,d,5.00\n'

/** Serves a table whose dataset has only these keys of its origin. */
async function withOrigin(origin: object): Promise<Service['app']> {
  const definition = JSON.parse(
    catalogText([{ name: 't', order: [], fields: [{ name: 'a', type: 'integer' }] }]),
  ) as { datasets: Record<string, unknown>[] }
  const datasets = definition.datasets.map((dataset) => ({
    ...Object.fromEntries(
      Object.entries(dataset).filter(([key]) => !['author', 'source', 'license', 'code_url'].includes(key)),
    ),
    ...origin,
  }))
  const catalog = parseCatalog(JSON.stringify({ ...definition, datasets }), 'c.yaml')
  const shop = await workshop(catalog, { 'd/t.csv': 'a\n1\n' })
  await shop.ingest()
  return (await serve(shop)).app
}

test('an author and a source without an address are named, and linked nowhere', async () => {
  const app = await withOrigin({ author: { name: 'Ana Lima' }, source: { name: 'A club' } })
  const { author_name, author_url, source_name, source_url } = await jsonAt(app, '/api/v1/dataset/d/')
  expect([author_name, author_url, source_name, source_url]).toEqual(['Ana Lima', null, 'A club', null])
  const page = await textAt(app, '/en/dataset/d/', { Accept: 'text/html' })
  expect(page.replaceAll(/\s+/g, '')).toContain(
    '<dt>Author</dt><dd>AnaLima</dd><dt>Source</dt><dd>Aclub</dd>',
  )
  for (const name of ['dcat.jsonld', 'dcat.ttl', 'croissant.json', 'datapackage.json', 'schema-org.jsonld']) {
    const text = await textAt(app, `/metadata/d/${name}`)
    expect([name, text]).toEqual([name, expect.stringContaining('Ana Lima')])
    expect([name, text]).toEqual([name, expect.not.stringMatching(/undefined|"url":null|"path":null|<null>/)])
  }
  const { headers } = await rawGet(app, '/en/dataset/d/', { Accept: 'text/html' })
  expect(headers['link']).not.toMatch(/rel="?author/)
  expect(await jsonAt(app, '/api/3/action/package_show?id=d')).toMatchObject({
    result: { author: 'Ana Lima' },
  })
})

test('every document leaves out an origin that the catalog does not state', async () => {
  const app = await withOrigin({})
  const nothing = [
    ...['author', 'license', 'source'].flatMap((of) => [`${of}_name`, `${of}_url`]),
    'code_url',
  ]
  const summary = await jsonAt(app, '/api/v1/dataset/d/')
  expect(nothing.map((key) => summary[key])).toEqual(nothing.map(() => null))

  const described = await Promise.all(
    ['/en/dataset/d/', '/en/dataset/d/t/', '/api/v1/dataset/d/', '/api/v1/dataset/d/t/'].map(
      async (target) => {
        const { headers } = await rawGet(app, target, target.startsWith('/en') ? { Accept: 'text/html' } : {})
        return [...String(headers['link']).matchAll(/<([^>]*)>; rel="(?:describedby|linkset)"/g)].map(
          ([, address = '']) => new URL(address, 'http://localhost:8000').pathname,
        )
      },
    ),
  )
  const documents = new Set(described.flat())
  expect(documents.size).toBeGreaterThan(7)
  for (const target of [...documents, '/files/d/t/', '/feeds/atom.xml', '/llms.txt'])
    expect([target, await textAt(app, target)]).toEqual([
      target,
      expect.not.stringMatching(/undefined|\bnull, null/),
    ])
  const page = await textAt(app, '/en/dataset/d/', { Accept: 'text/html' })
  expect(page).not.toMatch(/<dt>(Author|Source|License|Code)<|undefined|author = |note = /)
  expect(page).toContain('D (2020). http://localhost:8000/en/dataset/d/')
  const description = await jsonAt(app, '/api/3/action/package_show?id=d')
  expect(description).toMatchObject({ result: { author: null, license_id: null, isopen: false } })
})

describe('documents of published tables', () => {
  let shop: Workshop
  let service: Service
  beforeAll(async () => {
    shop = await workshop(tinyCatalog(table), { 'd/t.csv': first })
    await shop.ingest(now(1))
    await shop.write('d/t.csv', later)
    await shop.ingest(now(2))
    service = await serve(shop, { snapshotsKept: 10, snapshotGraceMs: 1e12 })
  })

  const search = async (query: Readonly<Record<string, string>>) =>
    (await request(service.app).get('/api/3/action/package_search').query(query)) as unknown as {
      status: number
      body: { success: boolean; result: { count: number }; error: Record<'__type' | 'message', string> }
    }

  const searchWith = async (fq: readonly string[]) =>
    (await request(service.app).post('/api/3/action/package_search').send({ fq })) as unknown as Awaited<
      ReturnType<typeof search>
    >

  test('have an ETag of their content, and are answered with 304 until it changes', async () => {
    const ownShop = await workshop(tinyCatalog(table), { 'd/t.csv': first })
    await ownShop.ingest(now(1))
    const state = { shop: ownShop, service: await serve(ownShop) }
    const named = async (target: string): Promise<string> =>
      String((await rawGet(state.service.app, target)).headers['etag'])
    const targets = [
      '/metadata/d/croissant.json',
      '/feeds/atom.xml',
      '/catalog.ttl',
      '/sitemap.xml',
      '/api/openapi.json',
    ]
    const before = await Promise.all(targets.map(named))
    expect(await Promise.all(targets.map(named))).toEqual(before)
    for (const [index, target] of targets.entries()) {
      const { status } = await rawGet(state.service.app, target, { 'If-None-Match': before[index] ?? '' })
      expect([target, status]).toEqual([target, 304])
    }
    await state.shop.write('d/t.csv', later)
    await state.shop.ingest(now(2))
    await state.service.snapshots.refresh()
    const after = await Promise.all(targets.map(named))
    for (const [index, name] of after.entries())
      expect([targets[index], name]).not.toEqual([targets[index], before[index]])
  })

  test('count all packages of a search on each of its pages', async () => {
    const definition = JSON.parse(catalogText([])) as { datasets: object[] }
    const [dataset] = definition.datasets
    const datasets = ['one', 'two', 'six'].map((slug) => ({ ...dataset, slug, tables: [] }))
    const ownService = await serve(
      await workshop(parseCatalog(JSON.stringify({ ...definition, datasets }), 'x.yaml')),
    )
    const searchFor = async (query: string): Promise<unknown> => {
      const { body } = await request(ownService.app).get(
        `/api/3/action/package_search?sort=name+asc&${query}`,
      )
      const { count, results } = (body as { result: { count: number; results: { name: string }[] } }).result
      return [count, results.map(({ name }) => name)]
    }
    expect(await searchFor('')).toEqual([3, ['one', 'six', 'two']])
    expect(await searchFor('rows=2')).toEqual([3, ['one', 'six']])
    expect(await searchFor('rows=2&start=2')).toEqual([3, ['two']])
    expect(await searchFor('rows=0')).toEqual([3, []])
    expect(await searchFor('fq=name:six&rows=0')).toEqual([1, []])
    expect(await searchFor('start=3')).toEqual([3, []])
  })

  test.each([
    ['', 'en', ['D, t: 4 rows, 3 before (+1).', 'D, t: 3 rows.'], '1 row of the source is left out.'],
    [
      '?lang=pt',
      'pt-BR',
      ['D, t: 4 linhas; antes, 3 (+1).', 'D, t: 3 linhas.'],
      '1 linha da origem foi descartada.',
    ],
  ])('include the feed%s, which states the newest changes first', async (query, locale, titles, rejected) => {
    const feed = await textAt(service.app, `/feeds/d/t/atom.xml${query}`)
    const entryTitles = [...feed.matchAll(/<entry>.*?<title>([^<]*)/g)].map(([, title]) => title)
    expect([entryTitles, feed.includes(`xml:lang="${locale}"`), feed.includes(rejected)]).toEqual([
      titles,
      true,
      true,
    ])
    expect(feed).toContain(`<id>http://localhost:8000/feeds/d/t/atom.xml${query}</id>`)
    const linkTitles = [...feed.matchAll(/rel="related"[^>]* title="([^"]*)"/g)].map(([, title]) => title)
    expect(new Set(linkTitles)).toEqual(
      new Set(
        locale === 'en'
          ? ['Rows', 'Import report of the table t']
          : ['Linhas', 'Relatório da importação da tabela t'],
      ),
    )
    expect([...feed.matchAll(/<updated>([^<]*)/g)].map(([, moment]) => moment)).toEqual([
      '2026-06-02T00:00:00.000Z',
      '2026-06-02T00:00:00.000Z',
      '2026-06-01T00:00:00.000Z',
    ])
  })

  test.each(['/feeds/atom.xml', '/feeds/d/atom.xml', '/feeds/d/t/atom.xml'])(
    'include %s, which refuses an unknown language',
    async (target) => {
      const { status, body } = await rawGet(service.app, `${target}?lang=de`)
      expect([status, body.toString().includes('The parameter \\"lang\\" must be one of pt, en.')]).toEqual([
        400,
        true,
      ])
    },
  )

  test('include an Arrow schema that equals the schema of the rows', async () => {
    const { body: schema } = await rawGet(service.app, '/metadata/d/t/schema.arrow')
    const { body: rows } = await rawGet(service.app, '/api/v1/dataset/d/t/data/?format=arrow')
    const [bare, full] = [tableFromIPC(schema), tableFromIPC(rows)]
    expect(bare.numRows).toBe(0)
    expect(String(bare.schema)).toBe(String(full.schema))
  })

  test('offer DCAT by content negotiation, and refuse unsupported types', async () => {
    const typeOf = async (accept: string): Promise<unknown> => {
      const { status, headers } = await rawGet(service.app, '/catalog', { Accept: accept })
      return status === 200 ? headers['content-type'] : status
    }
    expect(await typeOf('text/turtle')).toBe('text/turtle; charset=utf-8')
    expect(await typeOf('application/ld+json, text/turtle;q=0.9')).toBe('application/ld+json')
    expect(await typeOf('*/*')).toBe('application/ld+json')
    expect(await typeOf('application/pdf')).toBe(406)
    for (const target of ['/catalog?page=2', '/catalog.ttl?page=0', '/catalog?page=x']) {
      const { status } = await rawGet(service.app, target)
      expect([target, status]).toEqual([target, 404])
    }
    expect((await rawGet(service.app, '/catalog?pages=2')).status).toBe(400)
  })

  test('are linked from the answers that they describe', async () => {
    const linkOf = async (target: string): Promise<string> =>
      String((await rawGet(service.app, target)).headers['link'])
    expect(await linkOf('/api/v1/datasets/')).toContain('/api/v1/openapi.json>; rel="service-desc"')
    expect(await linkOf('/api/v1/dataset/d/t/')).toContain('/metadata/d/t/schema.json>; rel="describedby"')
    expect(await linkOf('/api/v1/dataset/d/t/export/?format=csv')).toContain(
      'csv-metadata.json>; rel="describedby"',
    )
    const { headers } = await rawGet(service.app, '/en/dataset/d/', { Accept: 'text/html' })
    const relations = [...String(headers['link']).matchAll(/rel="([^"]*)"/g)].map(([, relation]) => relation)
    expect(new Set(relations)).toEqual(
      new Set(['type', 'cite-as', 'author', 'license', 'describedby', 'item', 'linkset']),
    )
    const { linkset } = (await jsonAt(service.app, '/metadata/d/linkset.json')) as {
      linkset: Record<string, unknown>[]
    }
    expect(linkset[0]).toMatchObject({
      anchor: 'http://localhost:8000/pt/dataset/d/',
      license: [{ href: 'https://example.org/' }],
    })
  })

  test('include a description of the service that the DCAT of a dataset names', async () => {
    const text = await textAt(service.app, '/metadata/d/dcat.ttl')
    const [, address = ''] = /dcat:accessService <([^>]+)>/.exec(text) ?? []
    expect(text).toMatch(new RegExp(`^<${address}>\\s+a dcat:DataService`, 'm'))
  })

  describe('CKAN', () => {
    test.each([
      ['nofield:x', 'there is no field "nofield" here; known: '],
      ['name:', 'it is incomplete'],
      ['(a', 'it is incomplete'],
      ['a)', '")" is unexpected'],
      ['metadata_modified:[yesterday TO *]', '"yesterday" is not a time such as 2026-01-31T00:00:00Z'],
      ['metadata_modified:[* AND * *]', 'a range is written [from TO until]'],
      ['"open', '""" is unexpected'],
      ['x'.repeat(4001), 'it is longer than 4000 characters'],
      [Array.from({ length: 501 }, () => 'a').join(' '), 'it has more than 500 words'],
      ['- ', 'it is incomplete'],
    ])('refuses the search %.40s', async (q, message) => {
      const { status, body } = await search({ q })
      expect([status, body.success, body.error['__type']]).toEqual([400, false, 'Search Query Error'])
      expect(body.error.message).toContain(`Search Query is invalid: ${message}`)
    })

    test.each([
      [{ sort: 'nothing asc' }, 400, 'cannot sort by "nothing asc"'],
      [{ rows: '-1' }, 409, 'rows: Must be a natural number'],
      [{ start: 'x' }, 409, 'start: Must be a natural number'],
    ])('refuses %j', async (query, status, message) => {
      const answer = await search(query)
      expect([answer.status, answer.body.error.message.includes(message)]).toEqual([status, true])
    })

    test('links each answer to the help of its action', async () => {
      for (const action of [
        'package_list',
        'package_show?id=d',
        'package_search',
        'status_show',
        'help_show?name=x',
      ]) {
        const { body } = await request(service.app).get(`/api/3/action/${action}`)
        const { pathname, search: query } = new URL((body as { help: string }).help)
        const { status, body: help } = await request(service.app).get(pathname + query)
        const { success, result } = help as { success: boolean; result?: string }
        expect([action, status, success, typeof result]).toEqual([action, 200, true, 'string'])
      }
    })

    test('has no help for an unknown action', async () => {
      const { status, body } = await request(service.app).get('/api/3/action/help_show?name=constructor')
      expect([status, (body as { success: boolean }).success]).toEqual([404, false])
    })

    test('limits the number of words of a search across all its clauses', async () => {
      const { body } = await searchWith(Array.from({ length: 249 }, () => '-x'))
      expect([body.success, body.result.count]).toEqual([true, 1])
      const refused = await searchWith(Array.from({ length: 250 }, () => '-x'))
      expect([refused.status, refused.body.error.message]).toEqual([
        400,
        'Search Query is invalid: it has more than 500 words',
      ])
    })

    test('answers a search for words in any case, with AND, OR, NOT, + and -', async () => {
      for (const q of [
        'D',
        'd',
        'Ｄ'.normalize('NFKC'),
        'name:D',
        'NOT x',
        '-x +d',
        '(x OR d) AND d',
        'na*me:x OR d'.replace('na*me:x', 'x'),
      ]) {
        const { body } = await search({ q })
        expect([q, body.result.count]).toEqual([q, 1])
      }
    })

    test('accepts a query by POST, and only as JSON', async () => {
      const post = (body: string) =>
        request(service.app)
          .post('/api/3/action/package_show')
          .set('Content-Type', 'application/json')
          .send(body)
      expect((await post('{"id": "d"}')).status).toBe(200)
      expect((await post('{"id": 1}')).status).toBe(409)
      expect((await post('[1]')).status).toBe(400)
      expect((await post('no json')).status).toBe(400)
      expect((await post(`{"id": "d", "x": ${'['.repeat(31)}"[["${']'.repeat(31)}}`)).status).toBe(200)
      expect((await post(`{"id": "d", "x": ${'['.repeat(32)}${']'.repeat(32)}}`)).status).toBe(400)
      expect((await post(`{"x": ${'['.repeat(15_000)}${']'.repeat(15_000)}}`)).status).toBe(400)
      expect((await post(JSON.stringify({ id: 'x'.repeat(200_000) }))).status).toBe(400)
      const { status, headers } = await request(service.app).put('/api/3/action/package_show')
      expect([status, (headers as Record<string, string>)['allow']]).toEqual([
        405,
        'GET, HEAD, OPTIONS, POST',
      ])
    })
  })
})

test('the expectations in a catalog become constraints and keys of the Data Package', async () => {
  const catalog = catalogAround([
    {
      name: 't',
      order: [],
      expect: { unique: [['a', 'b']] },
      fields: [
        { name: 'a', type: 'decimal', expect: { not_null: true, between: [0, 9.5] } },
        { name: 'b', type: 'date', expect: { between: ['2020-01-01', null], references: 'd/u.day' } },
        { name: 'c', type: 'string', expect: { unique: true, matches: '[a-z]+', between: ['a', 'z'] } },
      ],
    },
    { name: 'u', order: [], fields: [{ name: 'day', type: 'date' }] },
  ])
  const shop = await workshop(catalog, {
    'd/t.csv': 'a,b,c\n1,2020-02-01,x\n',
    'd/u.csv': 'day\n2020-02-01\n',
  })
  await shop.ingest()
  const { app } = await serve(shop)
  const { resources } = await jsonAt(app, '/metadata/d/datapackage.json')
  const schemas = (resources as { schema: unknown }[]).map(({ schema }) => schema)
  expect(schemas).toEqual([
    {
      $schema: 'https://datapackage.org/profiles/2.0/tableschema.json',
      fields: [
        { name: 'a', type: 'number', constraints: { required: true, minimum: 0, maximum: 9.5 } },
        { name: 'b', type: 'date', constraints: { minimum: '2020-01-01' } },
        { name: 'c', type: 'string', constraints: { unique: true, pattern: '[a-z]+' } },
      ],
      missingValues: [''],
      uniqueKeys: [['a', 'b']],
      foreignKeys: [{ fields: ['b'], reference: { resource: 'u', fields: ['day'] } }],
    },
    expect.objectContaining({ fields: [{ name: 'day', type: 'date' }], missingValues: [''] }),
  ])
})
