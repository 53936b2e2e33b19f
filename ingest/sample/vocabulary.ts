/** Words that make samples look like data of Brazilian public bodies. */

export interface State {
  readonly uf: string
  readonly name: string
  readonly code: number
  /** Population in thousands, estimated for 2019. */
  readonly thousands: number
}

const stateTable = `RO Rondônia 11 1777,AC Acre 12 882,AM Amazonas 13 4145,RR Roraima 14 606,PA Pará 15 8603
AP Amapá 16 846,TO Tocantins 17 1573,MA Maranhão 21 7075,PI Piauí 22 3273,CE Ceará 23 9133
RN Rio_Grande_do_Norte 24 3507,PB Paraíba 25 4018,PE Pernambuco 26 9557,AL Alagoas 27 3338,SE Sergipe 28 2299
BA Bahia 29 14873,MG Minas_Gerais 31 21169,ES Espírito_Santo 32 4019,RJ Rio_de_Janeiro 33 17265,SP São_Paulo 35 45919
PR Paraná 41 11434,SC Santa_Catarina 42 7165,RS Rio_Grande_do_Sul 43 11377,MS Mato_Grosso_do_Sul 50 2779
MT Mato_Grosso 51 3484,GO Goiás 52 7018,DF Distrito_Federal 53 3015`

export const states: readonly State[] = stateTable.split(/[,\n]/).map((line) => {
  const [uf = '', name = '', code, thousands] = line.split(' ')
  return { uf, name: name.replaceAll('_', ' '), code: Number(code), thousands: Number(thousands) }
})

const words = (text: string): readonly string[] => text.split(', ')

export const womenNames = words(
  'MARIA, ANA, FRANCISCA, ANTÔNIA, ADRIANA, JULIANA, MÁRCIA, FERNANDA, PATRÍCIA, ALINE, SANDRA, CAMILA, AMANDA, BRUNA, JÉSSICA, LETÍCIA, JÚLIA, LUCIANA, VANESSA, MARIANA, GABRIELA, VERA LÚCIA, VITÓRIA, LARISSA, CLÁUDIA, BEATRIZ, RITA DE CÁSSIA, LUANA, SÔNIA, RENATA, ELIANE, CONCEIÇÃO',
)
export const menNames = words(
  'JOSÉ, JOÃO, ANTÔNIO, FRANCISCO, CARLOS, PAULO, PEDRO, LUCAS, LUIZ, MARCOS, LUÍS, GABRIEL, RAFAEL, DANIEL, MARCELO, BRUNO, EDUARDO, FELIPE, RAIMUNDO, RODRIGO, MANOEL, MATEUS, ANDRÉ, FERNANDO, FÁBIO, LEONARDO, GUSTAVO, GUILHERME, LEANDRO, TIAGO, ANDERSON, SEBASTIÃO',
)
export const surnames = words(
  "SILVA, SANTOS, OLIVEIRA, SOUZA, RODRIGUES, FERREIRA, ALVES, PEREIRA, LIMA, GOMES, COSTA, RIBEIRO, MARTINS, CARVALHO, ALMEIDA, LOPES, SOARES, FERNANDES, VIEIRA, BARBOSA, ROCHA, DIAS, NASCIMENTO, ANDRADE, MOREIRA, NUNES, MARQUES, MACHADO, MENDES, FREITAS, CARDOSO, RAMOS, GONÇALVES, SANTANA, TEIXEIRA, D'ÁVILA, ARAÚJO, ASSUNÇÃO",
)
export const cityHeads = words(
  'São José, Santa Rita, Bom Jesus, Nova Esperança, Campo Alegre, Boa Vista, Rio Claro, Santo Antônio, Água Branca, Lagoa Nova, Monte Belo, Pedra Bonita, Porto Velho, Serra Azul, Barra, Conceição, Itabira, Jaguaré, Araçá, Ibirapuã, Vila Flor, Cachoeira, São João, Poço Fundo, Riacho Doce, Morro Grande, Taquara, Ipê, Jequitibá, São Luís',
)
export const cityTails = words(
  'do Sul, do Norte, da Serra, do Oeste, dos Campos, do Piauí, das Missões, de Minas, do Araguaia, Paulista, do Itapemirim, da Mata, do Tocantins, do Ivaí, das Palmeiras, do Rio Preto, do Pará, Mirim, Velho, do Jacuípe, de Goiás',
)
export const parties = words(
  'MDB 15 Movimento Democrático Brasileiro, PT 13 Partido dos Trabalhadores, PSDB 45 Partido da Social Democracia Brasileira, PP 11 Progressistas, PDT 12 Partido Democrático Trabalhista, PTB 14 Partido Trabalhista Brasileiro, DEM 25 Democratas, PL 22 Partido Liberal, PSB 40 Partido Socialista Brasileiro, PSOL 50 Partido Socialismo e Liberdade, PV 43 Partido Verde, REDE 18 Rede Sustentabilidade',
).map((line) => {
  const [acronym = '', number, ...name] = line.split(' ')
  return { acronym, number: Number(number), name: name.join(' ') }
})
export const trades = words(
  'COMÉRCIO DE ALIMENTOS, MATERIAIS DE CONSTRUÇÃO, TRANSPORTES, CONSULTORIA, SERVIÇOS MÉDICOS, TECNOLOGIA, AGROPECUÁRIA, CONFECÇÕES, EMPREENDIMENTOS IMOBILIÁRIOS, AUTO PEÇAS, GRÁFICA E EDITORA, PARTICIPAÇÕES, DROGARIA, PADARIA E CONFEITARIA',
)
export const companyForms = words('LTDA, LTDA - ME, S/A, EIRELI, LTDA EPP')
export const schools = words(
  'Universidade Anhanguera - UNIDERP, Universidade Paulista - UNIP, Faculdade São Francisco - FSF, Centro Universitário Estácio, Universidade do Vale do Itajaí - UNIVALI, Pontifícia Universidade Católica - PUC, Faculdade Maurício de Nassau, Universidade Cruzeiro do Sul, Faculdade de Ciências Humanas e Sociais, Instituto Superior de Educação',
)
export const courses = words(
  'Administração, Direito, Enfermagem, Pedagogia, Engenharia Civil, Ciências Contábeis, Psicologia, Medicina, Odontologia, Educação Física, Gestão de Recursos Humanos, Análise e Desenvolvimento de Sistemas, Fisioterapia, Arquitetura e Urbanismo, Serviço Social',
)
export const ministries = words(
  'Ministério da Saúde, Ministério da Educação, Ministério da Defesa, Ministério da Fazenda, Ministério da Justiça e Segurança Pública, Ministério do Meio Ambiente, Ministério da Agricultura, Ministério dos Transportes, Presidência da República, Ministério da Cultura',
)
export const courts = words(
  'Tribunal de Justiça do Estado de São Paulo, Tribunal Regional Federal da 3ª Região, Tribunal de Justiça do Estado da Bahia, Tribunal Regional do Trabalho da 2ª Região, Tribunal Superior do Trabalho, Tribunal de Justiça do Distrito Federal e dos Territórios, Tribunal Regional Eleitoral do Ceará',
)
export const beaches = words(
  'São Tomé de Paripe, Tubarão, Periperi, Penha, Bogari, Pedra Furada, Boa Viagem, Roma, Canta Galo, Marina Contorno, Porto da Barra, Santa Maria, Farol da Barra, Ondina, Rio Vermelho, Buracão, Amaralina, Pituba, Armação, Boca do Rio, Patamares, Piatã, Placaford, Itapuã, Farol de Itapuã, Stella Maris, Aleluia',
)
export const assets = words(
  'Depósito bancário em conta corrente no País, Casa, Apartamento, Terreno, Veículo automotor terrestre: caminhão automóvel moto etc., Quotas ou quinhões de capital, Caderneta de poupança, Outros bens móveis, Terra nua, Ações (inclusive as provenientes de linha telefônica), Gado',
).map((name, index) => ({ name, code: [61, 12, 11, 13, 21, 32, 41, 29, 14, 31, 26][index] ?? 99 }))
/** Elected offices, with the year of the election and the length of a candidate's number. */
export const offices = [
  { name: 'VEREADOR', code: 13, year: 2020, digits: 5 },
  { name: 'PREFEITO', code: 11, year: 2020, digits: 2 },
  { name: 'VICE-PREFEITO', code: 12, year: 2020, digits: 2 },
  { name: 'DEPUTADO ESTADUAL', code: 7, year: 2018, digits: 5 },
  { name: 'DEPUTADO FEDERAL', code: 6, year: 2018, digits: 4 },
  { name: 'SENADOR', code: 5, year: 2018, digits: 3 },
  { name: 'GOVERNADOR', code: 3, year: 2018, digits: 2 },
] as const
export const occupations = words(
  'EMPRESÁRIO, AGRICULTOR, PROFESSOR DE ENSINO MÉDIO, SERVIDOR PÚBLICO MUNICIPAL, COMERCIANTE, ADVOGADO, DONA DE CASA, MÉDICO, APOSENTADO (EXCETO SERVIDOR PÚBLICO), MOTORISTA, ESTUDANTE',
)
