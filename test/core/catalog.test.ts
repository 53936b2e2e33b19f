import { readFile } from 'node:fs/promises'
import { catalogJsonSchema, type Catalog } from '../../core/catalog/catalog.ts'
import { loadCatalog, parseCatalog } from '../../core/catalog/load.ts'
import { StartError } from '../../core/errors.ts'
import { catalogErrorOf, faultsOf, good } from './catalog-faults/right-catalog.ts'
import { specTables } from './spec-tables.ts'

/** The shipped `catalog.yaml`, and how any catalog is read. */

let catalog: Catalog
beforeAll(async () => {
  catalog = await loadCatalog('catalog.yaml')
})

describe('catalog.yaml', () => {
  test('declares every dataset, table and field of the spec, in the same order and with the same types', () => {
    const declared = [...catalog.datasets.values()].map((dataset) => ({
      slug: dataset.slug,
      tables: [...dataset.tables.values()].map((table) => ({
        name: table.name,
        fields: table.fields.map((field) => `${field.name}:${field.type}`),
      })),
    }))
    expect(declared).toEqual(specTables)
  })

  test('gives each dataset the number of links that the spec states', () => {
    const links = Object.fromEntries(
      [...catalog.datasets].map(([slug, dataset]) => [slug, dataset.links.length]),
    )
    expect(links).toEqual({
      covid19: 30,
      'eleicoes-brasil': 1,
      'gastos-diretos': 1,
      'gastos-deputados': 1,
      'socios-brasil': 2,
      'cursos-prouni': 0,
      'genero-nomes': 0,
      'salarios-magistrados': 3,
      govbr: 0,
      'balneabilidade-bahia': 0,
      'documentos-brasil': 0,
    })
  })

  test('declares the row order of each table for which the spec states one', () => {
    const tables = catalog.datasets.get('covid19')?.tables
    const order = (name: string) =>
      tables?.get(name)?.order.map(({ field, direction }) => `${field} ${direction}`)
    expect(order('boletim')).toEqual(['date desc', 'state asc'])
    expect(order('obito_cartorio')).toEqual(['date desc', 'state asc'])
    expect(order('caso_full')).toEqual(['date asc', 'state asc', 'city_ibge_code asc'])
  })

  test('says that personal tax identifiers in documentos-brasil are obfuscated', () => {
    expect(catalog.datasets.get('documentos-brasil')?.description).toMatch(/CPF.*ofuscados.*privacidade/)
  })

  test('is deeply frozen', () => {
    expect(() => Object.assign(catalog.limits.rows[0] as object, { requests: 1 })).toThrow(TypeError)
    expect(() =>
      Object.assign(catalog.datasets.get('covid19')?.tables.get('caso')?.fields[0] as object, { name: 'x' }),
    ).toThrow(TypeError)
  })

  test('has a JSON Schema that is up to date (`npm run schema` writes it)', async () => {
    const written: unknown = JSON.parse(await readFile('core/catalog/catalog.schema.json', 'utf8'))
    expect(written).toEqual(JSON.parse(JSON.stringify(catalogJsonSchema())))
  })
})

describe('the loader', () => {
  test('accepts a valid catalog', () => {
    expect(faultsOf(good)).toEqual([])
  })

  test('reports an empty file', () => {
    expect(faultsOf('')).toEqual([
      'c.yaml:1:1: is empty: it must hold title, description, notice, about, publisher, contact, logo, colours, limits, families, engine, include, datasets',
    ])
  })

  test('gives a text in each language of the catalog, or else in the first language that the text has', () => {
    const said = parseCatalog(
      good
        .replace('title: T', 'title: { pt: Título, en: Title }')
        .replace('name: city, type: string', 'name: city, type: string, title: { en: City }'),
      'c.yaml',
    )
    const [pt, en] = [said.inLanguage.get('pt'), said.inLanguage.get('en')]
    expect([said.title, pt?.title, en?.title]).toEqual(['Título', 'Título', 'Title'])
    expect([titlesIn(said), titlesIn(pt), titlesIn(en)]).toEqual([['City'], ['City'], ['City']])
  })

  test('reports all faults at once, in the order of the file', () => {
    const secondTable =
      '{ name: u, order: [day], fields: [{ name: x, type: text, expect: { references: d/v.y } }] }'
    const bad = good
      .replace('title: T', 'title: 1')
      .replace('/api/v1', '/files')
      .replace('slug: d', 'slug: d d')
      .replace('listed_in: [v1]', 'listed_in: [v2]')
      .replace('type: string', 'type: str')
      .replace('      - name: t', `      - ${secondTable}\n      - name: t`)
    // The rules of a part wait until its shape is right, such as `listed_in` of the dataset.
    expect(faultsOf(bad).map((line) => line.split(': ')[0])).toEqual([
      'c.yaml:1:8',
      'c.yaml:8:17',
      'c.yaml:10:11',
      'c.yaml:21:28',
      'c.yaml:21:88',
      'c.yaml:28:33',
    ])
  })

  test('shows the first fifty faults and the number of the rest, while its error holds all of them', () => {
    const fields = Array.from({ length: 1200 }, () => '          - { name: 12, type: text }\n').join('')
    const faults = faultsOf(good + fields)
    expect([faults.length, faults.at(-2), faults.at(-1)]).toEqual([
      51,
      'c.yaml:78:21: "name" must be text; YAML reads 12 as 12: write it in quotes, "12"',
      'and 1,150 more',
    ])
    const error = catalogErrorOf(good + fields)
    expect([error?.faults.length, error?.message.split('\n')[0]]).toEqual([1200, 'c.yaml has 1,200 errors:'])
    const file = 'a list, no map'
    expect(faultsOf(`- ${file}`)).toEqual([
      'c.yaml:1:1: the file must be a map of keys and values, and is a list',
    ])
  })

  test('limits the expansion of aliases', () => {
    const bomb = `a: &a [1]\n${'bcdefgh'
      .split('')
      .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index] ?? ''},`.repeat(9)}]`)
      .join('\n')}`
    expect(faultsOf(bomb)[0]).toMatch(/the file cannot be read as YAML: Excessive alias count/)
  })

  test('reports a missing file, with the setting that names it', async () => {
    await expect(loadCatalog('no/such.yaml')).rejects.toThrow(StartError)
    await expect(loadCatalog('no/such.yaml')).rejects.toThrow('set CATALOG to the path of a catalog.yaml')
  })
})

/** Returns the titles of all fields that have one. */
function titlesIn(texts: Pick<Catalog, 'datasets'> | undefined): string[] {
  return [...(texts?.datasets.values() ?? [])].flatMap(({ tables }) =>
    [...tables.values()].flatMap(({ fields }) => fields.flatMap(({ title }) => title ?? [])),
  )
}
