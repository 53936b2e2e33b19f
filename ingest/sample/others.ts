import { cityName, companyOf, isoDate, maskedCpf, personOf, cityOf } from './people.ts'
import type { Random } from './random.ts'
import { eachRow, type Cell, type SampleTable } from './samples.ts'
import { beaches, courses, menNames, schools, states, womenNames } from './vocabulary.ts'

const partnerRoles = [
  { code: 49, name: 'Sócio-Administrador' },
  { code: 22, name: 'Sócio' },
  { code: 5, name: 'Administrador' },
  { code: 16, name: 'Presidente' },
]

function empresas(random: Random): Record<string, Cell> {
  const company = companyOf(random)
  return { cnpj: company.cnpj, razao_social: company.name, uf: random.pick(states).uf }
}

function holdings(random: Random): Record<string, Cell> {
  const [company, owner] = [companyOf(random), companyOf(random)]
  return {
    cnpj: company.cnpj,
    razao_social: company.name,
    cnpj_socia: owner.cnpj,
    qualificacao_socia: random.pick(partnerRoles).name,
    razao_social_socia: owner.name,
  }
}

function socios(random: Random): Record<string, Cell> {
  const [company, role] = [companyOf(random), random.pick(partnerRoles)]
  const person = random.chance(0.9) ? personOf(random) : null
  const owner = companyOf(random)
  return {
    cnpj: company.cnpj,
    razao_social: company.name,
    cpf_cnpj_socio: person === null ? owner.cnpj : maskedCpf(person.cpf),
    nome_socio: person === null ? owner.name : person.name,
    tipo_socio: person === null ? 'Pessoa Jurídica' : 'Pessoa Física',
    qualificacao_socio: role.name,
    codigo_tipo_socio: person === null ? 1 : 2,
    codigo_qualificacao_socio: role.code,
  }
}

function cursos(random: Random): Record<string, Cell> {
  const [place, course] = [cityOf(random), random.pick(courses)]
  const campus = String(random.between(100, 1_100_000))
  const grade = (): string => (450 + random.next() * 300).toFixed(2)
  const [hasFullScholarship, half] = [random.chance(0.7), random.chance(0.4)]
  return {
    uf_busca: place.uf,
    cidade_busca: place.city,
    universidade_nome: random.pick(schools),
    campus_nome: random.pick(['UNIDADE SEDE', 'CAMPUS I', `CAMPUS ${place.city.toUpperCase()}`]),
    nome: course,
    grau: random.pick(['Bacharelado', 'Licenciatura', 'Tecnológico']),
    turno: random.pick(['Noturno', 'Matutino', 'Vespertino', 'Integral', 'Curso a Distância']),
    mensalidade: (180 + random.next() ** 3 * 9000).toFixed(2),
    bolsa_integral_cotas: hasFullScholarship ? random.between(0, 20) : null,
    bolsa_integral_ampla: hasFullScholarship ? random.between(0, 20) : null,
    bolsa_parcial_cotas: half ? random.between(0, 20) : null,
    bolsa_parcial_ampla: half ? random.between(0, 20) : null,
    nota_integral_ampla: hasFullScholarship ? grade() : null,
    nota_integral_cotas: hasFullScholarship && random.chance(0.5) ? grade() : null,
    nota_parcial_ampla: half ? grade() : null,
    nota_parcial_cotas: half && random.chance(0.5) ? grade() : null,
    curso_busca: course,
    cidade_filtro: Buffer.from(random.digits(12)).toString('base64'),
    campus_external_id: Number(campus),
    curso_id: `${campus}${random.digits(6)}`,
  }
}

function variants(name: string, random: Random): string {
  const spellings = [
    name,
    name.replace('L', 'LL'),
    name.replace('I', 'Y'),
    `${name}${random.pick(['A', 'E', 'H'])}`,
  ]
  return `|${[...new Set(spellings)].toSorted().join('|')}|`
}

/** Invents a first name with its counts; without accents, as in the census. */
function countedName(random: Random) {
  const woman = random.chance(0.5)
  const root = random
    .pick(woman ? womenNames : menNames)
    .normalize('NFD')
    .replaceAll(/[^A-Z]/g, '')
  const name = random.chance(0.4)
    ? root
    : `${root.slice(0, random.between(2, root.length))}${random.pick(['ILDA', 'SON', 'IANE', 'ALDO', 'ETE', 'ELMA', 'ENIR'])}`
  const total = 20 + Math.floor(random.next() ** 8 * 2_000_000)
  const minor = random.chance(0.6) ? 0 : Math.floor(total * random.next() * 0.2)
  return { name, total, women: woman ? total - minor : minor, men: woman ? minor : total - minor, woman }
}

function grupos(random: Random): Record<string, Cell> {
  const { name, total, women, men, woman } = countedName(random)
  return {
    name,
    classification: woman ? 'F' : 'M',
    frequency_female: women,
    frequency_male: men,
    frequency_total: total,
    ratio: (Math.max(women, men) / total).toFixed(16),
    names: variants(name, random),
  }
}

function nomes(random: Random): Record<string, Cell> {
  const { name, total, women, men, woman } = countedName(random)
  return {
    first_name: name,
    group_name: name.replace(/(.)\1+/g, '$1'),
    classification: woman ? 'F' : 'M',
    frequency_female: women === 0 ? null : women,
    frequency_male: men === 0 ? null : men,
    frequency_total: total,
    frequency_group: total + random.between(0, 5000),
    ratio: (Math.max(women, men) / total).toFixed(16),
    alternative_names: variants(name, random),
  }
}

const coasts = ['SSA', 'BTS', 'CDE', 'CDC', 'CBS', 'CDB']

function campaign(random: Random) {
  const date = isoDate(random, 2015, 2018)
  const id =
    1 + Math.floor((Date.parse(date) - Date.parse('2015-01-01')) / 604_800_000) * 6 + random.between(0, 5)
  return {
    date,
    id,
    number: `${String((id % 52) + 1).padStart(2, '0')}/${date.slice(0, 4)}`,
    coast: random.pick(coasts),
  }
}

function balneabilidade(random: Random): Record<string, Cell> {
  const { date, id, number, coast } = campaign(random)
  const beach = random.pick(beaches)
  return {
    id_campanha: id,
    numero_boletim: number,
    data_emissao: date,
    costa_ponto: coast,
    local_da_coleta: random.chance(0.3)
      ? null
      : `Em frente à ${random.pick(['rampa', 'igreja', 'barraca', 'escada'])} de acesso à praia, ${cityName(random)}`,
    categoria: random.chance(0.65) ? 'Própria' : random.chance(0.9) ? 'Imprópria' : 'Indisponível',
    ponto_codigo: `${beach} - ${coast} ${random.pick(['IN', 'PR', 'PE'])} ${random.between(1, 9)}00`,
    tipo_campanha: random.pick(['Rotina', 'Verão']),
    costa_menu: random.chance(0.2) ? null : 'Salvador',
  }
}

function boletins(random: Random): Record<string, Cell> {
  const { date, id, number, coast } = campaign(random)
  return {
    id_campanha: id,
    numero_boletim: number,
    data_emissao: date,
    tipo_campanha: random.pick(['Rotina', 'Verão']),
    costa: coast,
    url: `http://balneabilidade.inema.ba.gov.br/index.php/relatoriodebalneabilidade/geraBoletim?idcampanha=${id}`,
  }
}

export const otherTables: readonly SampleTable[] = [
  eachRow('socios-brasil/empresas', 1000, empresas),
  eachRow('socios-brasil/holdings', 300, holdings),
  eachRow('socios-brasil/socios', 2000, socios),
  eachRow('cursos-prouni/cursos', 1500, cursos),
  eachRow('genero-nomes/grupos', 800, grupos),
  eachRow('genero-nomes/nomes', 2000, nomes),
  eachRow('balneabilidade-bahia/balneabilidade', 1500, balneabilidade),
  eachRow('balneabilidade-bahia/boletins', 300, boletins),
]
