import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import type { Outcome } from '../ingest/job/report.ts'
import { serve, walk, type Service } from './support/service.ts'
import { tinyCatalog, workshop } from './support/workshop.ts'
import { describeWith, realFiles } from './support/needs.ts'

/** Files as governments publish them, loaded by what the catalog declares alone, against an independent reading. */
const realData = process.env['ACERVO_REAL_DATA'] ?? ''
const raw = path.join(realData, 'raw')
const describeWithData = describeWith(realData !== '' && existsSync(raw), realFiles)

type Texts = Readonly<Record<string, string>>
type Read = (texts: Texts, name: string) => unknown

const text: Read = (texts, name) => (['', '#NULO#'].includes(texts[name] ?? '') ? null : texts[name])
const whole: Read = (texts, name) => (text(texts, name) === null ? null : Number(texts[name]))
const comma: Read = (texts, name) =>
  text(texts, name) === null ? null : Number(texts[name]?.replace(',', '.'))
const day: Read = (texts, name) => texts[name]?.split('/').toReversed().join('-')
const truth: Read = (texts, name) => texts[name] === 'True'

interface RawTable {
  readonly files: string
  readonly encoding: 'latin-1' | 'windows-1252' | 'utf-8'
  readonly source: object
  /** Column of the source -> field with its type, and how an independent reader understands it. */
  readonly columns: Readonly<Record<string, readonly [field: string, read: Read]>>
  readonly names: readonly string[]
}

const assets: RawTable = {
  files: 'raw/bem_candidato_2018_*_latin1.csv.gz',
  names: ['AC', 'AP', 'RR'].map((state) => `bem_candidato_2018_${state}_latin1.csv.gz`),
  encoding: 'latin-1',
  source: { delimiter: ';', decimal: ',', date: 'dd/mm/yyyy', nulls: ['', '#NULO#'] },
  columns: {
    DT_GERACAO: ['dt_geracao:date', day],
    HH_GERACAO: ['hh_geracao:string', text],
    ANO_ELEICAO: ['ano_eleicao:integer', whole],
    NM_TIPO_ELEICAO: ['nm_tipo_eleicao:string', text],
    DS_ELEICAO: ['ds_eleicao:string', text],
    DT_ELEICAO: ['dt_eleicao:date', day],
    SG_UF: ['sg_uf:string', text],
    NM_UE: ['nm_ue:string', text],
    SQ_CANDIDATO: ['sq_candidato:string', text],
    NR_ORDEM_CANDIDATO: ['nr_ordem_candidato:integer', whole],
    DS_TIPO_BEM_CANDIDATO: ['ds_tipo_bem_candidato:string', text],
    DS_BEM_CANDIDATO: ['ds_bem_candidato:string', text],
    VR_BEM_CANDIDATO: ['vr_bem_candidato:decimal:18:2', comma],
  },
}

const cases: RawTable = {
  files: 'raw/caso_full_semicolon_decimal_comma.csv.gz',
  names: ['caso_full_semicolon_decimal_comma.csv.gz'],
  encoding: 'utf-8',
  source: { delimiter: ';', decimal: ',' },
  columns: {
    city: ['city:string', text],
    city_ibge_code: ['city_ibge_code:string', text],
    date: ['date:date', text],
    epidemiological_week: ['epidemiological_week:integer', whole],
    estimated_population_2019: ['estimated_population_2019:integer', whole],
    is_last: ['is_last:bool', truth],
    is_repeated: ['is_repeated:bool', truth],
    last_available_confirmed: ['last_available_confirmed:integer', whole],
    last_available_confirmed_per_100k_inhabitants: ['per_100k:float', comma],
    last_available_date: ['last_available_date:date', text],
    last_available_death_rate: ['last_available_death_rate:decimal:10:4', comma],
    last_available_deaths: ['last_available_deaths:integer', whole],
    order_for_place: ['order_for_place:integer', whole],
    place_type: ['place_type:string', text],
    state: ['state:string', text],
    new_confirmed: ['new_confirmed:integer', whole],
    new_deaths: ['new_deaths:integer', whole],
  },
}

const expenses: RawTable = {
  files: 'raw/senadores_despesas_2020_latin1.csv.gz',
  names: ['senadores_despesas_2020_latin1.csv.gz'],
  encoding: 'windows-1252',
  source: { delimiter: ';', decimal: ',' },
  columns: {
    ANO: ['ano:integer', whole],
    MES: ['mes:integer', whole],
    SENADOR: ['senador:string', text],
    TIPO_DESPESA: ['tipo_despesa:string', text],
    CNPJ_CPF: ['cnpj_cpf:string', text],
    FORNECEDOR: ['fornecedor:string', text],
    DOCUMENTO: ['documento:string', text],
    DATA: ['data:string', text],
    DETALHAMENTO: ['detalhamento:text', text],
    VALOR_REEMBOLSADO: ['valor_reembolsado:decimal:18:2', comma],
    COD_DOCUMENTO: ['cod_documento:integer', whole],
  },
}

/** Each row as JSON with its keys in alphabetical order, read by csv-parse and TextDecoder. */
async function independently(table: RawTable): Promise<string[]> {
  const fields = Object.entries(table.columns)
    .map(([column, [field, read]]) => ({ column, name: field.split(':')[0] ?? '', read }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const rows: string[] = []
  for (const name of table.names) {
    const bytes = gunzipSync(await readFile(path.join(raw, name)))
    // `stream` since without it Node 20 takes windows-1252 for ISO 8859-1.
    const decoder = new TextDecoder(table.encoding === 'utf-8' ? 'utf-8' : 'windows-1252')
    const records = parse(decoder.decode(bytes, { stream: true }), { delimiter: ';', columns: true })
    for (const texts of records as Texts[]) {
      const row = fields.map((field) => [field.name, field.read(texts, field.column)])
      rows.push(JSON.stringify(Object.fromEntries(row)))
    }
  }
  return rows
}

function catalogOf(tables: Readonly<Record<string, RawTable>>) {
  return tinyCatalog(
    ...Object.entries(tables).map(([name, { files, encoding, source, columns }]) => {
      const entries = Object.entries(columns)
      const renamed = entries
        .map(([column, [field]]) => [column, field.split(':')[0]])
        .filter(([a, b]) => a !== b)
      // The columns of the assets that nobody asks for.
      const ignore =
        name === 'assets'
          ? [
              'CD_TIPO_ELEICAO',
              'CD_ELEICAO',
              'SG_UE',
              'CD_TIPO_BEM_CANDIDATO',
              'DT_ULTIMA_ATUALIZACAO',
              'HH_ULTIMA_ATUALIZACAO',
            ]
          : []
      return {
        name,
        fields: entries.map(([, [field]]) => field),
        source: { ...source, files, encoding, ignore, rename: Object.fromEntries(renamed) as object },
      }
    }),
  )
}

const tables = { assets, cases, expenses }

describeWithData('files as governments publish them', () => {
  let service: Service
  let outcomes: Outcome[]
  beforeAll(async () => {
    const shop = await workshop(catalogOf(tables))
    outcomes = await shop.ingest({ sources: realData, jobs: 2 })
    service = await serve(shop)
  }, 120_000)

  test('load by the declarations of the catalog alone', () => {
    expect(Object.fromEntries(outcomes.map(({ table, status }) => [table.name, status]))).toEqual({
      assets: 'published',
      cases: 'published',
      expenses: 'published',
    })
  })

  test.each(Object.entries(tables))(
    'give every row of %s as an independent reader reads it',
    async (name, table) => {
      const expected = await independently(table)
      const pages = await walk(service.app, `/api/v1/dataset/d/${name}/data/?page_size=10000`)
      const rowTexts = pages.flatMap(({ results }) => results.map((row) => JSON.stringify(row)))
      expect(rowTexts).toHaveLength(expected.length)
      const different = rowTexts.findIndex((row, index) => row !== expected[index])
      expect([different, rowTexts[different]]).toEqual([-1, expected[different]])
    },
    120_000,
  )

  test('follow each other in one table, and its manifest names each file', () => {
    const outcome = outcomes.find(({ table }) => table.name === 'assets')
    if (outcome?.status !== 'published') throw new Error('expected a snapshot')
    expect(outcome.manifest.sources.map((source) => source.name)).toEqual(assets.names)
  })
})
