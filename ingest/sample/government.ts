import { companyOf, isoDate, maskedCpf, money, personOf, cityOf } from './people.ts'
import type { Random } from './random.ts'
import { eachRow, type Cell, type SampleTable } from './samples.ts'
import { courts, ministries, parties } from './vocabulary.ts'

const actions = [
  'Funcionamento de instituições federais de ensino superior',
  'Atenção à saúde da população para procedimentos de "média e alta complexidade"',
  'Administração da unidade',
  'Assistência médica e odontológica aos servidores civis, empregados, militares e dependentes',
]
const expenses = [
  'COMBUSTÍVEIS E LUBRIFICANTES.',
  'PASSAGEM AÉREA - SIGEPA',
  'TELEFONIA',
  'MANUTENÇÃO DE ESCRITÓRIO DE APOIO À ATIVIDADE PARLAMENTAR',
  'DIVULGAÇÃO DA ATIVIDADE PARLAMENTAR.',
]

function gastos(random: Random): Record<string, Cell> {
  const date = isoDate(random, 2017, 2018)
  const [company, ministry] = [companyOf(random), random.pick(ministries)]
  const [code, action] = [random.digits(4), random.pick(actions)]
  return {
    ano: Number(date.slice(0, 4)),
    mes: Number(date.slice(5, 7)),
    data_pagamento: date,
    nome_orgao: random.pick(ministries),
    nome_acao: action,
    numero_documento: `${date.slice(0, 4)}OB${random.digits(6)}`,
    codigo_favorecido: company.cnpj,
    nome_favorecido: company.name,
    // Cancelled payments are published with a minus.
    valor: `${random.chance(0.02) ? '-' : ''}${money(random, 400_000)}`,
    codigo_acao: code,
    codigo_elemento_despesa: random.pick([30, 33, 37, 39, 52, 93]),
    codigo_funcao: random.between(1, 28),
    codigo_grupo_despesa: random.pick([3, 4]),
    codigo_orgao: random.between(20_000, 60_000),
    codigo_orgao_superior: random.between(20_000, 60_000),
    codigo_programa: random.between(1, 2100),
    codigo_subfuncao: random.between(31, 846),
    codigo_unidade_gestora: random.between(110_000, 800_000),
    data_pagamento_original: date.split('-').toReversed().join('/'),
    gestao_pagamento: '00001',
    linguagem_cidada: random.chance(0.8) ? null : 'Merenda escolar',
    nome_elemento_despesa: random.pick([
      'Material de consumo',
      'Serviços de terceiros - pessoa jurídica',
      'Passagens',
    ]),
    nome_funcao: random.pick(['Educação', 'Saúde', 'Defesa nacional', 'Ciência e Tecnologia']),
    nome_grupo_despesa: random.pick(['Outras despesas correntes', 'Investimentos']),
    nome_orgao_superior: ministry,
    nome_programa: random.pick(['Educação de qualidade para todos', 'Fortalecimento do SUS']),
    nome_subfuncao: random.pick(['Ensino superior', 'Atenção básica', 'Administração geral']),
    nome_unidade_gestora: `${ministry.toUpperCase()} - UNIDADE ${random.between(1, 40)}`,
  }
}

function cota(random: Random): Record<string, Cell> {
  const date = isoDate(random, 2019, 2020)
  const [member, company, party, place] = [
    personOf(random),
    companyOf(random),
    random.pick(parties),
    cityOf(random),
  ]
  const flight = random.chance(0.2)
  const refund = random.chance(0.02)
  const value = money(random, 20_000)
  const note = random.chance(0.05) ? money(random, 90) : '0.00'
  const deputy = random.between(1000, 3500)
  return {
    numano: Number(date.slice(0, 4)),
    nummes: Number(date.slice(5, 7)),
    datemissao: random.chance(0.02) ? null : `${date}T00:00:00`,
    txnomeparlamentar: member.nickname,
    sgpartido: party.acronym,
    sguf: place.uf,
    txtdescricao: flight ? 'PASSAGEM AÉREA - SIGEPA' : random.pick(expenses),
    txtcnpjcpf: company.cnpj,
    txtfornecedor: company.name,
    vlrdocumento: refund ? `-${value}` : value,
    codlegislatura: 56,
    vlrglosa: note,
    vlrliquido: refund ? `-${value}` : (Number(value) - Math.min(Number(value), Number(note))).toFixed(2),
    idedocumento: random.between(1_000_000, 7_999_999),
    idecadastro: random.between(60_000, 220_000),
    indtipodocumento: random.between(0, 4),
    nucarteiraparlamentar: random.between(1, 600),
    nudeputadoid: deputy,
    nulegislatura: 2019,
    numespecificacaosubcota: random.between(0, 4),
    numlote: random.between(1_500_000, 1_800_000),
    numparcela: 0,
    numressarcimento: random.chance(0.5) ? null : random.between(5000, 9000),
    numsubcota: random.pick([1, 3, 4, 5, 10, 13, 999]),
    txtdescricaoespecificacao: random.chance(0.8) ? null : 'Veículos Automotores',
    txtnumero: random.digits(7),
    txtpassageiro: flight ? member.name : null,
    txttrecho: flight ? 'BSB/GRU, GRU/BSB' : null,
    vlrrestituicao: random.chance(0.02) ? money(random, 500) : null,
  }
}

function contracheque(random: Random): Record<string, Cell> {
  const [judge, court] = [personOf(random), random.pick(courts)]
  const salary = 24_000 + random.next() * 11_000
  const rights = [
    random.next() * 4000,
    random.next() * 6000,
    random.next() ** 4 * 60_000,
    random.next() ** 3 * 5000,
  ]
  const [personal = 0, benefits = 0, occasional = 0, daily = 0] = rights
  const gross = salary + personal + benefits + occasional + daily
  const cut = Math.max(0, gross - 60_000)
  const [tax, pension, other] = [salary * 0.2, salary * 0.11, random.next() * 900]
  const total = tax + pension + other + cut
  const month = `2019-${String(random.between(1, 8)).padStart(2, '0')}`
  return {
    mesano_de_referencia: `${month}-01`,
    tribunal: court,
    lotacao: `${random.between(1, 40)}ª Vara ${random.pick(['Cível', 'Criminal', 'da Fazenda Pública', 'do Trabalho'])}`,
    cargo: random.pick(['JUIZ DE DIREITO', 'DESEMBARGADOR', 'JUIZ SUBSTITUTO', 'MINISTRO']),
    nome: judge.name,
    cpf: maskedCpf(judge.cpf),
    total_de_rendimentos: gross.toFixed(2),
    total_de_descontos: total.toFixed(2),
    rendimento_liquido: (gross - total).toFixed(2),
    data_de_publicacao: `${month}-20`,
    descontos_diversos: other.toFixed(2),
    diarias: daily.toFixed(2),
    direitos_eventuais: occasional.toFixed(2),
    direitos_pessoais: personal.toFixed(2),
    imposto_de_renda: tax.toFixed(2),
    indenizacoes: benefits.toFixed(2),
    orgao: court,
    previdencia_publica: pension.toFixed(2),
    remuneracao_do_orgao_de_origem: random.chance(0.9) ? null : money(random, 30_000),
    retencao_por_teto_constitucional: cut.toFixed(2),
    subsidio: salary.toFixed(2),
    url: `https://www.cnj.jus.br/transparencia/remuneracao/${month}/${random.digits(6)}.xls`,
  }
}

function links(random: Random): Record<string, Cell> {
  const [year, month, court] = [random.between(2018, 2019), random.between(1, 12), random.pick(courts)]
  return {
    date_scraped: isoDate(random, 2019, 2019),
    month,
    year,
    name: court,
    url: `https://www.cnj.jus.br/transparencia/remuneracao/${year}-${month}/${random.digits(6)}.xls`,
  }
}

function auxilio(random: Random): Record<string, Cell> {
  const [place, person] = [cityOf(random), personOf(random)]
  const secret = random.chance(0.002)
  const responsible = random.chance(0.3) ? personOf(random) : null
  return {
    ano_mes: 202_000 + random.between(4, 12),
    uf: place.uf,
    codigo_ibge_municipio: place.cityCode,
    municipio: place.city.toUpperCase(),
    nis_beneficiario: secret ? null : random.digits(11),
    cpf_beneficiario: secret ? null : maskedCpf(person.cpf),
    beneficiario: secret ? null : person.name,
    nis_responsavel: responsible === null ? '-2' : random.digits(11),
    cpf_responsavel: responsible === null ? null : maskedCpf(responsible.cpf),
    responsavel: responsible === null ? 'Não se aplica' : responsible.name,
    enquadramento: random.pick(['BOLSA FAMILIA', 'EXTRACAD', 'CADUN']),
    parcela: random.between(1, 9),
    observacao: random.chance(0.03) ? 'Pagamento bloqueado ou cancelado' : 'Não há',
    valor: random.pick(['300.00', '600.00', '1200.00']),
    em_sigilo: secret,
  }
}

export const governmentTables: readonly SampleTable[] = [
  eachRow('gastos-diretos/gastos', 2000, gastos),
  eachRow('gastos-deputados/cota_parlamentar', 2000, cota),
  eachRow('salarios-magistrados/contracheque', 1500, contracheque),
  eachRow('salarios-magistrados/links', 300, links),
  eachRow('govbr/auxilio_emergencial', 3000, auxilio),
]
