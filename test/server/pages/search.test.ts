import { languages } from '../../../core/catalog/names.ts'
import { linksIn, rowCountOn, textIn } from './markup.ts'
import { sampled } from '../../support/runs.ts'
import { publishSamples } from '../../support/samples.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, tinyCatalog, workshop } from '../../support/workshop.ts'

/** The search of all datasets, tables, fields and values. */

let samples: Service
beforeAll(async () => {
  samples = await serve(await publishSamples(() => true))
}, 120_000)

async function search(
  { app }: Pick<Service, 'app'>,
  text: string,
  language = 'en',
): Promise<{ readonly status: number; readonly text: string; readonly links: readonly string[] }> {
  const target = `/${language}/?${new URLSearchParams({ q: text }).toString()}`
  const { status, body } = await rawGet(app, target, { Accept: 'text/html' })
  const page = body.toString()
  const results = page.slice(page.indexOf('<main'), page.indexOf('</main>'))
  return {
    status,
    text: textIn(results).replaceAll(/\s+/g, ' '),
    links: linksIn(results).filter((link) => link.includes('/dataset/')),
  }
}

/** Searches in everyday words, by a person who knew what each table is about, and the tables that answer them. */
const everyday: readonly (readonly [text: string, tables: readonly string[]])[] = [
  ['quantas pessoas morreram de covid por dia', ['caso_full', 'obito_cartorio', 'caso']],
  ['casos de coronavirus em Campinas', ['caso', 'caso_full']],
  ['mortes por pneumonia registradas nos cartorios', ['obito_cartorio']],
  ['boletins das secretarias de saude sobre a covid', ['boletim']],
  ['taxa de letalidade da covid nas cidades', ['caso', 'caso_full']],
  ['obitos por insuficiencia respiratoira', ['obito_cartorio']],
  ['patrimônio declarado pelos políticos', ['bens_candidatos']],
  ['carros e imoveis que o candidato tem', ['bens_candidatos']],
  ['mulheres candidatas a prefeita', ['candidatos']],
  ['cor e escolaridade de quem concorreu nas eleições', ['candidatos']],
  ['quem é filiado ao PSOL', ['filiados']],
  ['quantos votos cada vereador teve por zona', ['votacoes']],
  ['resultado das eleicoes', ['votacoes', 'candidatos']],
  ['para quem o governo federal paga', ['gastos']],
  ['despesas dos ministérios com fornecedores', ['gastos']],
  ['gasolina e passagens dos deputados', ['cota_parlamentar']],
  ['notas fiscais reembolsadas cota parlametar', ['cota_parlamentar']],
  ['quem são os donos de uma empresa', ['socios', 'empresas', 'holdings']],
  ['consultar cnpj pelo nome da empresa', ['empresas', 'socios']],
  ['empresas que são sócias de outras empresas', ['holdings', 'socios']],
  ['nota de corte do prouni', ['cursos']],
  ['mensalidade de faculdade em Salvador', ['cursos']],
  ['quantas pessoas se chamam Maria', ['nomes', 'grupos']],
  ['saber se um nome é de homem ou de mulher', ['nomes', 'grupos']],
  ['salario dos juizes', ['contracheque', 'links']],
  ['quem recebeu o auxilio emergencial no Maranhão', ['auxilio_emergencial']],
  ['praia Porto da Barra boa para banho', ['balneabilidade']],
  ['balneablidade das praias', ['balneabilidade', 'boletins']],
  ['covid deaths in SP', ['caso_full', 'caso', 'obito_cartorio']],
  ['new coronavirus cases per day by city', ['caso_full', 'caso']],
  ['how rich are brazilian politicians', ['bens_candidatos']],
  ['political party members', ['filiados']],
  ['election results by candidate', ['votacoes', 'candidatos']],
  ['federal goverment spending', ['gastos']],
  ['congressmen expenses', ['cota_parlamentar']],
  ['company owners and shareholders', ['socios', 'holdings', 'empresas']],
  ['university scholarships', ['cursos']],
  ['how much do judges earn', ['contracheque', 'links']],
  ['gender of first names', ['nomes', 'grupos']],
  ['is the beach in Itapuã safe to swim', ['balneabilidade']],
]

test.each(languages)(
  'searches in everyday words find their table among the first three, in %s',
  async (language) => {
    const missed: unknown[] = []
    const searches = sampled(everyday)
    for (const [text, tables] of searches) {
      const { links } = await search(samples, text, language)
      const names = links.slice(0, 3).map((link) => link.split('/')[4] ?? '')
      if (!names.some((name) => tables.includes(name))) missed.push([text, names])
    }
    expect(missed.length <= searches.length / 10 ? [] : missed).toEqual([])
  },
  60_000,
)

test.each([
  'Campinas',
  'campinas',
  'casos em "Campinas"',
  'campinas*',
  'Campinas/',
  '-Campinas',
  'cases in Campinas',
])('%s leads to the rows of the municipality', async (text) => {
  const { links } = await search(samples, text)
  expect(links.filter((link) => /=campinas$/i.test(link)).length).toBeGreaterThan(3)
})

test.each<[text: string, first: RegExp]>([
  ['joão', /\/genero-nomes\/\w+\/\?\w+=JOAO$/],
  ['campnas', /\?\w+=campinas$/i],
  ['Rio de Janero', /\?\w+=RJ$/],
  ['Rio de Janeiro', /\?\w+=(RJ|RIO%20DE%20JANEIRO)$/i],
  ['covd', /\/covid19\/\w+\/$/],
])('%s leads first to what it probably means, and to each value once', async (text, first) => {
  const { links } = await search(samples, text)
  expect(links[0]).toMatch(first)
  expect(new Set(links).size).toBe(links.length)
})

test.each([
  ['casos campnas', 'casos campinas'],
  ['mortes rio de janero por mes', 'mortes rio de janeiro por mes'],
  ['covid campnas bahia', 'covid campinas bahia'],
])('%s is corrected, and the page says so', async (text, corrected) => {
  const page = await search(samples, text)
  expect(page.text).toContain(`These are the results for “${corrected}”.`)
  expect(page.links).toEqual((await search(samples, corrected)).links)
  expect(page.links.length).toBeGreaterThan(2)
})

test.each(['casos xyzxyz', 'casos Campinas', 'campnas'])('%s is not corrected', async (text) => {
  expect((await search(samples, text)).text).not.toContain('These are the results for')
})

test.each([
  ['covid Bahia', 'state=BA'],
  ['mortes no rio grande do sul', 'state=RS'],
  ['Ceará', 'state=CE'],
])('%s leads to the rows of the state', async (text, condition) => {
  const { links } = await search(samples, text)
  expect(links.filter((link) => link.endsWith(`?${condition}`)).length).toBeGreaterThan(0)
})

test.each([
  [
    'deaths by state',
    ['obito_cartorio/chart/?group=state&', 'caso/chart/?group=state&', 'caso_full/chart/?group=state&'],
  ],
  ['mortes por mês', ['caso_full/chart/?group=date__month&', 'obito_cartorio/chart/?group=date__month&']],
  // Running totals do not add up over days, though their table has a chart by state.
  ['casos por dia', ['caso_full/chart/?group=date&']],
  ['votos por partido', ['votacoes/chart/?group=sigla_partido&']],
  ['gastos dos deputados por partido', ['cota_parlamentar/chart/?group=sgpartido&']],
  // A chart of all states does not answer a search of one, nor one of states a search of a city.
  [
    'deaths sao paulo by week',
    [
      'obito_cartorio/chart/?group=date__week&measure=new_deaths_covid19__sum&state=SP',
      'caso_full/chart/?group=date__week&measure=new_deaths__sum&place_type=state&state=SP',
    ],
  ],
  [
    'mortes em Salvador por semana',
    ['caso_full/chart/?city=Salvador&group=date__week&measure=new_deaths__sum&place_type__ne=state'],
  ],
  ['votos do PT por estado', ['votacoes/chart/?group=sigla_uf&measure=total_votos__sum&sigla_partido=PT']],
  ['deaths in Atlantis by week', []],
  ['mortes', []],
  ['state', []],
])('%s leads to charts of a measure by a group', async (text, charts) => {
  const { links } = await search(samples, text)
  const chartLinks = links.filter((link) => link.includes('/chart/'))
  expect(chartLinks.map((link) => charts.find((chart) => link.includes(chart)) ?? link)).toEqual(charts)
  for (const link of chartLinks) {
    const page = (await rawGet(samples.app, link, { Accept: 'text/html' })).body.toString()
    // It draws a sum at once, without asking which rows are totals of others.
    expect([link, page.includes('<svg'), page.includes('role="status"')]).toEqual([link, true, false])
  }
})

test('a value among the results states the number of rows that its page shows', async () => {
  const { text, links } = await search(samples, 'São Paulo')
  const values = links.filter((link) => link.includes('?'))
  expect(values.length).toBeGreaterThan(1)
  for (const link of values) {
    const page = (await rawGet(samples.app, link, { Accept: 'text/html' })).body.toString()
    expect(text).toContain(`${rowCountOn(page) ?? 'no'} rows`)
  }
})

describe('a search in a small catalog', () => {
  let service: Service
  beforeAll(async () => {
    const table = {
      name: 't',
      title: { en: 'Accidents of lorries', pt: 'Acidentes de caminhões' },
      synonyms: ['crashes'],
      order: ['road'],
      min_group_size: 3,
      fields: [fieldOf('road:string'), fieldOf('driver:string')],
    }
    const secondTable = { name: 'u', title: 'Bridges', order: ['a'], fields: [fieldOf('a:string')] }
    const shop = await workshop(catalogAround([table, secondTable]), {
      'd/t.csv': `road,driver\n${'Via Ápia,Ana\n'.repeat(3)}Alley,Bob\n`,
      'd/u.csv': 'a\nnone\n',
    })
    await shop.ingest()
    service = await serve(shop)
  })

  test.each([
    ['accident', ['t']],
    ['ACCIDENTS', ['t']],
    ['caminhão', ['t']],
    ['caminhoes', ['t']],
    ['accidemts of a lorry', ['t']],
    ['crash', ['t']],
    ['road', ['t']],
    ['bridge', ['u']],
    ['of the', ['t']],
    ['xyzzy', []],
    ['%', []],
  ])('%s finds %j', async (text, tables) => {
    for (const language of languages) {
      const { status, links } = await search(service, text, language)
      const names = links.filter((link) => !link.includes('?')).map((link) => link.split('/')[4])
      expect([status, names]).toEqual([200, tables])
    }
  })

  test('a value with fewer rows than the minimum size of groups is not found', async () => {
    expect((await search(service, 'via apia')).links).toContain('/en/dataset/d/t/?road=Via+%C3%81pia')
    expect((await search(service, 'alley')).links).toEqual([])
  })
})

describe('a search for values with punctuation or several words', () => {
  let service: Service
  beforeAll(async () => {
    const fields = [fieldOf('tree:string'), fieldOf('school:string')]
    const shop = await workshop(catalogAround([{ name: 't', title: 'Places', order: ['tree'], fields }]), {
      'd/t.csv': [
        'tree,school',
        'Pau-brasil,EMEF Cecília Meireles',
        'Pau-brasil,EMEI Sítio do Saber',
        'Ipê-amarelo,EMEI Flor do Sítio',
        "Árvore d'água (nova),CIEP Anísio",
        'Aroeira,Escola A',
        'Aroeira branca,Escola B',
      ].join('\n'),
    })
    await shop.ingest()
    service = await serve(shop)
  })

  test.each([
    ['tree aroeira brnca', 'tree aroeira branca'],
    ['aroeira ciep anisoo', 'aroeira ciep anísio'],
    ['aroeira ciep ansiio', 'aroeira ciep anísio'],
  ])('%s has a misspelt value beside words of another value, and is corrected', async (text, corrected) => {
    expect((await search(service, text)).text).toContain(`the results for “${corrected}”`)
  })

  test.each<[text: string, link: string | null, rows?: number]>([
    ['pau-brasil', '?tree=Pau-brasil', 2],
    ['Pau Brasil', '?tree=Pau-brasil', 2],
    ['ipe amarelo', '?tree=Ip%C3%AA-amarelo', 1],
    ["arvore d'agua nova", '?tree=%C3%81rvore+d%27%C3%A1gua+%28nova%29', 1],
    // A part of one value leads to the value, and a part of several to all of them.
    ['cecilia meireles', '?school=EMEF+Cec%C3%ADlia+Meireles', 1],
    ['Sítio', '?school__contains=sitio', 2],
    ['brasil', '?tree=Pau-brasil', 2],
    // Parts begin at the start of a word.
    ['itio', null],
    ['em', null],
  ])('the search %s leads to the rows %s', async (text, link, rows = 0) => {
    const { links, text: shown } = await search(service, text)
    expect(links).toEqual(link === null ? [] : [`/en/dataset/d/t/${link}`, '/en/dataset/d/t/'])
    if (link === null) return
    expect(shown).toContain(rows === 1 ? '1 row' : `${rows} rows`)
    const page = (await rawGet(service.app, links[0] ?? '', { Accept: 'text/html' })).body.toString()
    expect(rowCountOn(page)).toBe(String(rows))
  })
})

test.each(['a\0b', 'None', 'null', '*', '[x', '"', '\\', ',', '%', "'; --", 'İ', 'x'.repeat(3000)])(
  'a search for %j has a page of results',
  async (text) => {
    expect((await search(samples, text)).status).toBe(200)
  },
)

describe('a search for towns of one name', () => {
  let service: Service
  beforeAll(async () => {
    const table = {
      name: 't',
      title: 'Deaths',
      order: ['city'],
      filters: ['city', 'uf', 'party'],
      measures: ['deaths'],
      fields: [
        { name: 'city', type: 'string' },
        { name: 'uf', type: 'string', kind: 'uf' },
        { name: 'party', type: 'string' },
        { name: 'deaths', type: 'integer' },
      ],
    }
    const states = ['PB', 'PI', 'RN', 'RS', 'SC', 'SP', 'BA']
    const lines = [
      'Bom Jesus,PI,Green,1',
      'Bom Jesus,PI,Green,2',
      'Bom Jesus,RS,Green,4',
      'Jaú,SP,Green,8',
      ...states.map((uf) => `Town of ${uf},${uf},Red,1`),
    ]
    const shop = await workshop(catalogAround([table]), {
      'd/t.csv': `city,uf,party,deaths\n${lines.join('\n')}\n`,
    })
    await shop.ingest()
    service = await serve(shop)
  })

  test.each<[text: string, links: string[]]>([
    // No chart draws both towns as one.
    ['bom jesus', ['/en/dataset/d/t/?city=Bom+Jesus&uf=PI', '/en/dataset/d/t/?city=Bom+Jesus&uf=RS']],
    [
      'deaths in bom jesus by uf',
      ['/en/dataset/d/t/?city=Bom+Jesus&uf=PI', '/en/dataset/d/t/?city=Bom+Jesus&uf=RS'],
    ],
    ['jaú', ['/en/dataset/d/t/?city=Ja%C3%BA']],
    // A party is the same in all states.
    ['red', ['/en/dataset/d/t/?party=Red']],
  ])('the text %s leads to the rows of each value that it names', async (text, due) => {
    const { links, text: shown } = await search(service, text)
    expect(links.filter((link) => link.includes('?'))).toEqual(due)
    expect(shown.includes('city: Bom Jesus (Piauí)')).toBe(due.length > 1)
    for (const link of due)
      expect(
        Number(rowCountOn((await rawGet(service.app, link, { Accept: 'text/html' })).body.toString())),
      ).toBeGreaterThan(0)
  })
})

test('a value that begins with the text is found, although each word is a value of another table', async () => {
  const shop = await workshop(
    tinyCatalog({ name: 'towns', fields: ['town:string'] }, { name: 'beaches', fields: ['beach:string'] }),
    {
      'd/towns.csv': 'town\nBarra\nPorto\nJaú\n',
      'd/beaches.csv': 'beach\nPorto da Barra - SSA PB 100\nFarol\n',
    },
  )
  await shop.ingest()
  const { links } = await search(await serve(shop), 'Porto da Barra', 'pt')
  expect(links.filter((link) => link.includes('?'))).toContain(
    '/pt/dataset/d/beaches/?beach=Porto+da+Barra+-+SSA+PB+100',
  )
})
