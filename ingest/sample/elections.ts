import { isoDate, money, personOf, cityOf } from './people.ts'
import type { Random } from './random.ts'
import { eachRow, type Cell, type SampleTable } from './samples.ts'
import { assets, occupations, offices, parties } from './vocabulary.ts'

const years = [2018, 2020] as const
const elections = { 2018: 'Eleições Gerais Estaduais 2018', 2020: 'Eleições Municipais 2020' } as const
const schooling = [
  'ENSINO MÉDIO COMPLETO',
  'SUPERIOR COMPLETO',
  'ENSINO FUNDAMENTAL INCOMPLETO',
  'LÊ E ESCREVE',
] as const
const coalitions = [
  'O TRABALHO CONTINUA',
  'JUNTOS POR UMA CIDADE MELHOR',
  'FRENTE POPULAR',
  'PARTIDO ISOLADO',
] as const

const details = [
  'Casa residencial, com 3 quartos, na rua das Acácias, 120',
  'Automóvel "flex", ano 2012',
  'Saldo em conta corrente\nem 31/12/2017',
  'Terreno de 10 x 25 m; escritura em andamento',
]

/**
 * Invents a candidacy. Municipal offices are elected in 2020, all others in 2018; elected candidates usually
 * have more votes.
 */
function candidacy(random: Random) {
  const year = random.pick(years)
  const office = random.pick(offices.filter((candidate) => candidate.year === year))
  const [party, place] = [random.pick(parties), cityOf(random)]
  const number = party.number * 10 ** (office.digits - 2) + random.between(0, 10 ** (office.digits - 2) - 1)
  const elected = random.chance(0.2)
  const votes = elected ? random.between(2000, 60_000) : Math.floor(3000 * random.next() ** 4)
  const id = `${place.code}000${random.digits(7)}`
  return { year, party, office, place, number, id, elected, votes, person: personOf(random) }
}

function bens(random: Random): Record<string, Cell> {
  const { year, place, id } = candidacy(random)
  const asset = random.pick(assets)
  return {
    descricao_eleicao: elections[year],
    sigla_uf: place.uf,
    sq_candidato: id,
    ds_tipo_bem_candidato: asset.name,
    detalhe_bem: random.chance(0.1) ? null : random.pick(details),
    valor_bem: money(random, 900_000),
    ano_eleicao: year,
    cd_tipo_bem_candidato: asset.code,
  }
}

function candidatos(random: Random): Record<string, Cell> {
  const { year, party, office, place, number, id, elected, person } = candidacy(random)
  const level = random.between(0, 3)
  const coalition = random.pick(coalitions)
  return {
    ano_eleicao: year,
    sigla_uf: place.uf,
    descricao_ue: (year === 2020 ? place.city : place.name).toUpperCase(),
    num_turno: 1,
    descricao_cargo: office.name,
    sigla_partido: party.acronym,
    descricao_sexo: person.woman ? 'FEMININO' : 'MASCULINO',
    cpf_candidato: person.cpf,
    data_nascimento: person.born,
    numero_candidato: number,
    nome_candidato: person.name,
    nome_urna_candidato: person.nickname,
    des_situacao_candidatura: 'APTO',
    desc_sit_tot_turno: elected ? 'ELEITO' : 'NÃO ELEITO',
    cod_grau_instrucao: String(level + 3),
    cod_sit_tot_turno: elected ? 1 : 4,
    cod_situacao_candidatura: 12,
    codigo_cargo: office.code,
    codigo_cor_raca: '03',
    codigo_estado_civil: '3',
    codigo_legenda: random.digits(12),
    codigo_municipio_nascimento: -3,
    codigo_nacionalidade: '1',
    codigo_ocupacao: random.digits(3),
    codigo_sexo: person.woman ? 4 : 2,
    composicao_legenda: `${party.acronym} / ${random.pick(parties).acronym}`,
    datahora_geracao: `${year}-11-20 03:14:${random.between(10, 59)}`,
    descricao_cor_raca: random.pick(['PARDA', 'BRANCA', 'PRETA', 'INDÍGENA', 'AMARELA']),
    descricao_eleicao: elections[year],
    descricao_estado_civil: random.pick(['CASADO(A)', 'SOLTEIRO(A)', 'DIVORCIADO(A)', 'VIÚVO(A)']),
    descricao_grau_instrucao: schooling[level] ?? '',
    descricao_nacionalidade: 'BRASILEIRA NATA',
    descricao_ocupacao: random.pick(occupations),
    despesa_max_campanha: '-1',
    idade_data_eleicao: String(year - Number(person.born.slice(0, 4))),
    nm_email: random.chance(0.5) ? null : `${person.cpf.slice(0, 5)}@EXEMPLO.ORG`,
    nome_legenda: coalition,
    nome_municipio_nascimento: cityOf(random).city.toUpperCase(),
    nome_partido: party.name,
    num_titulo_eleitoral_candidato: random.digits(12),
    numero_partido: party.number,
    sequencial_candidato: id,
    sigla_legenda: coalition === 'PARTIDO ISOLADO' ? null : 'COLIG.',
    sigla_ue: random.digits(5),
    sigla_uf_nascimento: cityOf(random).uf,
  }
}

function filiados(random: Random): Record<string, Cell> {
  const [party, place, person] = [random.pick(parties), cityOf(random), personOf(random)]
  const hasLeft = random.chance(0.3)
  const joined = isoDate(random, 1988, 2018)
  return {
    codigo_do_municipio: random.between(1000, 99_999),
    data_da_desfiliacao: hasLeft ? isoDate(random, 2019, 2020) : null,
    data_da_filiacao: joined,
    data_da_regularizacao: null,
    data_do_cancelamento: hasLeft && random.chance(0.5) ? isoDate(random, 2019, 2020) : null,
    data_do_processamento: joined,
    datahora_da_extracao: '2020-03-02 01:49:07',
    motivo_do_cancelamento: hasLeft ? random.pick(['A PEDIDO DO ELEITOR', 'DECISÃO JUDICIAL']) : null,
    nome_do_filiado: person.name,
    nome_do_municipio: place.city.toUpperCase(),
    nome_do_partido: party.name,
    numero_da_inscricao: random.digits(12),
    secao_eleitoral: random.between(1, 400),
    sigla_do_partido: party.acronym,
    situacao_do_registro: hasLeft ? 'DESFILIADO' : 'REGULAR',
    tipo_do_registro: 'OFICIAL',
    uf: place.uf,
    zona_eleitoral: random.between(1, 250),
  }
}

function votacoes(random: Random): Record<string, Cell> {
  const { year, party, office, place, number, id, elected, votes, person } = candidacy(random)
  return {
    ano_eleicao: year,
    sigla_uf: place.uf,
    nome_municipio: place.city.toUpperCase(),
    descricao_cargo: office.name,
    num_turno: 1,
    numero_zona: random.between(1, 250),
    sigla_partido: party.acronym,
    nome_candidato: person.name,
    nome_urna_candidato: person.nickname,
    numero_cand: number,
    desc_sit_cand_superior: 'APTO',
    desc_sit_candidato: 'DEFERIDO',
    desc_sit_cand_tot: elected ? 'ELEITO' : 'NÃO ELEITO',
    transito: 'N',
    cod_sit_cand_superior: 12,
    codigo_cargo: office.code,
    codigo_municipio: random.between(1000, 99_999),
    codigo_sit_cand_tot: elected ? 1 : 4,
    codigo_sit_candidato: '2',
    composicao_legenda: `${party.acronym} / ${random.pick(parties).acronym}`,
    datahora_geracao: `${year}-11-20 03:14:${random.between(10, 59)}`,
    descricao_eleicao: elections[year],
    nome_coligacao: random.pick(coalitions),
    nome_partido: party.name,
    numero_partido: party.number,
    sequencial_legenda: random.digits(12),
    sigla_ue: random.digits(5),
    sq_candidato: id,
    total_votos: votes,
  }
}

export const electionTables: readonly SampleTable[] = [
  eachRow('eleicoes-brasil/bens_candidatos', 3000, bens),
  eachRow('eleicoes-brasil/candidatos', 2000, candidatos),
  eachRow('eleicoes-brasil/filiados', 2000, filiados),
  eachRow('eleicoes-brasil/votacoes', 3000, votacoes),
]
