/** The datasets, tables and fields of the API's specification, in its order. s=string, i=integer and so on. */
const spec = `
covid19
  boletim: date:t, state:s, url:s, notes:t
  caso: date:t, state:s, city:s, place_type:s, confirmed:i, deaths:i, is_last:b, estimated_population:i, estimated_population_2019:i, city_ibge_code:s, confirmed_per_100k_inhabitants:f, death_rate:f, order_for_place:i
  caso_full: epidemiological_week:i, date:s, order_for_place:i, state:s, city:s, city_ibge_code:i, place_type:s, last_available_date:s, last_available_confirmed:i, last_available_confirmed_per_100k_inhabitants:f, new_confirmed:i, last_available_deaths:i, new_deaths:i, last_available_death_rate:f, estimated_population_2019:i, estimated_population:i, is_last:b, is_repeated:b
  obito_cartorio: date:s, state:s, epidemiological_week_2019:i, epidemiological_week_2020:i, deaths_covid19:i, new_deaths_covid19:i, deaths_total_2019:i, new_deaths_total_2019:i, deaths_total_2020:i, new_deaths_total_2020:i, deaths_indeterminate_2019:i, new_deaths_indeterminate_2019:i, deaths_indeterminate_2020:i, new_deaths_indeterminate_2020:i, deaths_others_2019:i, new_deaths_others_2019:i, deaths_others_2020:i, new_deaths_others_2020:i, deaths_pneumonia_2019:i, new_deaths_pneumonia_2019:i, deaths_pneumonia_2020:i, new_deaths_pneumonia_2020:i, deaths_respiratory_failure_2019:i, new_deaths_respiratory_failure_2019:i, deaths_respiratory_failure_2020:i, new_deaths_respiratory_failure_2020:i, deaths_sars_2019:i, new_deaths_sars_2019:i, deaths_sars_2020:i, new_deaths_sars_2020:i, deaths_septicemia_2019:i, new_deaths_septicemia_2019:i, deaths_septicemia_2020:i, new_deaths_septicemia_2020:i
eleicoes-brasil
  bens_candidatos: descricao_eleicao:s, sigla_uf:s, sq_candidato:s, ds_tipo_bem_candidato:s, detalhe_bem:s, valor_bem:d, ano_eleicao:i, cd_tipo_bem_candidato:i
  candidatos: ano_eleicao:i, sigla_uf:s, descricao_ue:s, num_turno:i, descricao_cargo:s, sigla_partido:s, descricao_sexo:s, cpf_candidato:s, data_nascimento:s, numero_candidato:i, nome_candidato:s, nome_urna_candidato:s, des_situacao_candidatura:s, desc_sit_tot_turno:s, cod_grau_instrucao:s, cod_sit_tot_turno:i, cod_situacao_candidatura:i, codigo_cargo:i, codigo_cor_raca:s, codigo_estado_civil:s, codigo_legenda:s, codigo_municipio_nascimento:i, codigo_nacionalidade:s, codigo_ocupacao:s, codigo_sexo:i, composicao_legenda:s, datahora_geracao:dt, descricao_cor_raca:s, descricao_eleicao:s, descricao_estado_civil:s, descricao_grau_instrucao:s, descricao_nacionalidade:s, descricao_ocupacao:s, despesa_max_campanha:s, idade_data_eleicao:s, nm_email:s, nome_legenda:s, nome_municipio_nascimento:s, nome_partido:s, num_titulo_eleitoral_candidato:s, numero_partido:i, sequencial_candidato:s, sigla_legenda:s, sigla_ue:s, sigla_uf_nascimento:s
  filiados: codigo_do_municipio:i, data_da_desfiliacao:dte, data_da_filiacao:dte, data_da_regularizacao:dte, data_do_cancelamento:dte, data_do_processamento:dte, datahora_da_extracao:dt, motivo_do_cancelamento:s, nome_do_filiado:s, nome_do_municipio:s, nome_do_partido:s, numero_da_inscricao:s, secao_eleitoral:i, sigla_do_partido:s, situacao_do_registro:s, tipo_do_registro:s, uf:s, zona_eleitoral:i
  votacoes: ano_eleicao:i, sigla_uf:s, nome_municipio:s, descricao_cargo:s, num_turno:i, numero_zona:i, sigla_partido:s, nome_candidato:s, nome_urna_candidato:s, numero_cand:i, desc_sit_cand_superior:s, desc_sit_candidato:s, desc_sit_cand_tot:s, transito:s, cod_sit_cand_superior:i, codigo_cargo:i, codigo_municipio:i, codigo_sit_cand_tot:i, codigo_sit_candidato:s, composicao_legenda:s, datahora_geracao:dt, descricao_eleicao:s, nome_coligacao:s, nome_partido:s, numero_partido:i, sequencial_legenda:s, sigla_ue:s, sq_candidato:s, total_votos:i
gastos-diretos
  gastos: ano:i, mes:i, data_pagamento:dte, nome_orgao:s, nome_acao:s, numero_documento:s, codigo_favorecido:s, nome_favorecido:s, valor:d, codigo_acao:s, codigo_elemento_despesa:i, codigo_funcao:i, codigo_grupo_despesa:i, codigo_orgao:i, codigo_orgao_superior:i, codigo_programa:i, codigo_subfuncao:i, codigo_unidade_gestora:i, data_pagamento_original:s, gestao_pagamento:s, linguagem_cidada:s, nome_elemento_despesa:s, nome_funcao:s, nome_grupo_despesa:s, nome_orgao_superior:s, nome_programa:s, nome_subfuncao:s, nome_unidade_gestora:s
gastos-deputados
  cota_parlamentar: numano:i, nummes:i, datemissao:dt, txnomeparlamentar:s, sgpartido:s, sguf:s, txtdescricao:s, txtcnpjcpf:s, txtfornecedor:s, vlrdocumento:d, codlegislatura:i, vlrglosa:d, vlrliquido:d, idedocumento:i, idecadastro:i, indtipodocumento:i, nucarteiraparlamentar:i, nudeputadoid:i, nulegislatura:i, numespecificacaosubcota:i, numlote:i, numparcela:i, numressarcimento:i, numsubcota:i, txtdescricaoespecificacao:s, txtnumero:s, txtpassageiro:s, txttrecho:s, vlrrestituicao:d
socios-brasil
  empresas: cnpj:s, razao_social:s, uf:s
  holdings: cnpj:s, razao_social:s, cnpj_socia:s, qualificacao_socia:s, razao_social_socia:s
  socios: cnpj:s, razao_social:s, cpf_cnpj_socio:s, nome_socio:s, tipo_socio:s, qualificacao_socio:s, codigo_tipo_socio:i, codigo_qualificacao_socio:i
cursos-prouni
  cursos: uf_busca:s, cidade_busca:s, universidade_nome:s, campus_nome:s, nome:s, grau:s, turno:s, mensalidade:d, bolsa_integral_cotas:i, bolsa_integral_ampla:i, bolsa_parcial_cotas:i, bolsa_parcial_ampla:i, nota_integral_ampla:d, nota_integral_cotas:d, nota_parcial_ampla:d, nota_parcial_cotas:d, curso_busca:s, cidade_filtro:s, campus_external_id:i, curso_id:s
genero-nomes
  grupos: name:s, classification:s, frequency_female:i, frequency_male:i, frequency_total:i, ratio:d, names:s
  nomes: first_name:s, group_name:s, classification:s, frequency_female:i, frequency_male:i, frequency_total:i, frequency_group:i, ratio:d, alternative_names:s
salarios-magistrados
  contracheque: mesano_de_referencia:dte, tribunal:s, lotacao:s, cargo:s, nome:s, cpf:s, total_de_rendimentos:d, total_de_descontos:d, rendimento_liquido:d, data_de_publicacao:s, descontos_diversos:d, diarias:d, direitos_eventuais:d, direitos_pessoais:d, imposto_de_renda:d, indenizacoes:d, orgao:s, previdencia_publica:d, remuneracao_do_orgao_de_origem:d, retencao_por_teto_constitucional:d, subsidio:d, url:s
  links: date_scraped:dte, month:i, year:i, name:s, url:s
govbr
  auxilio_emergencial: ano_mes:i, uf:s, codigo_ibge_municipio:i, municipio:s, nis_beneficiario:s, cpf_beneficiario:s, beneficiario:s, nis_responsavel:s, cpf_responsavel:s, responsavel:s, enquadramento:s, parcela:i, observacao:s, valor:d, em_sigilo:b
balneabilidade-bahia
  balneabilidade: id_campanha:i, numero_boletim:s, data_emissao:dte, costa_ponto:s, local_da_coleta:s, categoria:s, ponto_codigo:s, tipo_campanha:s, costa_menu:s
  boletins: id_campanha:i, numero_boletim:s, data_emissao:dte, tipo_campanha:s, costa:s, url:s
documentos-brasil`

const types: Readonly<Record<string, string>> = {
  s: 'string',
  i: 'integer',
  d: 'decimal',
  dt: 'datetime',
  dte: 'date',
  b: 'bool',
  f: 'float',
  t: 'text',
}

export interface SpecDataset {
  readonly slug: string
  readonly tables: { readonly name: string; readonly fields: readonly string[] }[]
}

export const specTables: readonly SpecDataset[] = spec
  .trim()
  .split(/\n(?! )/)
  .map((block) => {
    const [slug = '', ...lines] = block.split('\n')
    return { slug, tables: lines.map((line) => specTable(line.trim())) }
  })

function specTable(line: string): SpecDataset['tables'][number] {
  const [name = '', fields = ''] = line.split(': ')
  return {
    name,
    fields: fields
      .split(', ')
      .map((field) => field.replace(/:(\w+)$/, (_, type: string) => `:${types[type] ?? ''}`)),
  }
}
