import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from '@jest/globals'
import iconv from 'iconv-lite'
import { suggest } from '../../ingest/suggest/suggest.ts'
import { temporaryFolder } from '../support/workshop.ts'

async function suggested(name: string, content: string | Buffer): Promise<string[]> {
  const folder = await temporaryFolder()
  const file = path.join(folder, name)
  await writeFile(file, content)
  return (await suggest(file, await temporaryFolder(), { unpackedBytesMax: 1e9 })).trimEnd().split('\n')
}

test('a file of a government: encoding, delimiter, decimal comma, dates, null words, codes and types, tried on all rows', async () => {
  const rows = Array.from({ length: 200 }, (_, n) => {
    const [day, code] = [String((n % 28) + 1).padStart(2, '0'), String(n).padStart(5, '0')]
    return `"${day}/02/2020";"${code}";"Preço nº ${n} – São Paulo";"${n},5";"${n % 7 === 0 ? '#NULO#' : n}";"${n % 2 === 0 ? 'S' : 'N'}"`
  })
  const text = `Relatório gerado em 2020\r\n\r\n"DT_COMPRA";"CD_ITEM";"Descrição";"VR_ITEM";"Qtd. itens";"ATIVO"\r\n${rows.join('\r\n')}\r\n`
  expect(await suggested('compras 2020.csv.gz', gzipSync(iconv.encode(text, 'windows-1252')))).toEqual([
    '# compras 2020.csv.gz: 200 rows, 6 columns',
    '# it is not UTF-8, and has bytes from 0x80 to 0x9f: windows-1252',
    '# ";" gives 6 columns in 100.0 % of the sample',
    '# 1 lines stand before the header',
    '# tried on all rows: every value is as declared here',
    '- name: compras_2020',
    '  order: [] # such as [date desc, state]; without it the rows keep the order of the source',
    '  source:',
    '    encoding: "windows-1252"',
    '    delimiter: ";"',
    '    decimal: ","',
    '    date: "dd/mm/yyyy"',
    '    nulls: ["","#NULO#"]',
    '    booleans: {"true":["S"],"false":["N"]}',
    '    skip_lines: 1',
    '    rename: {"DT_COMPRA":"dt_compra","CD_ITEM":"cd_item","Descrição":"descricao","VR_ITEM":"vr_item","Qtd. itens":"qtd_itens","ATIVO":"ativo"}',
    '  fields:',
    '    - { name: dt_compra, type: date } # all 200 values are written dd/mm/yyyy',
    '    - { name: cd_item, type: string } # digits, 200 of 200 with a leading zero, which a number would lose',
    '    - { name: descricao, type: string } # 200 texts of at most 24 characters, such as "Preço nº 0 – São Paulo"',
    '    - { name: vr_item, type: decimal, scale: 1 } # all 200 values are numbers with at most 1 digits after the comma',
    '    - { name: qtd_itens, type: integer } # all 171 values are whole numbers of at most 3 digits',
    '    - { name: ativo, type: bool } # all 200 values are S or N',
  ])
})

test('a plain file without a header, whose faults are told', async () => {
  const rows = Array.from(
    { length: 50 },
    (_, n) => `${n},${n === 40 ? 'x' : n * 1.25},2020-01-01 10:00:00,123.456.789-0${n % 10}`,
  )
  expect(await suggested('1.txt', `${rows.join('\n')}\n51,2\n`)).toEqual([
    '# 1.txt: 50 rows, 4 columns',
    '# all bytes are ASCII, so the encoding is open: utf-8',
    '# "," gives 4 columns in 98.0 % of the sample',
    '# the first line holds numbers, dates or nothing, so it is taken for a row: name the columns',
    '# 1 rows cannot be read: line 51: the row has 2 values, and the header 4',
    '# tried on all rows: every value is as declared here',
    '- name: "1"',
    '  order: [] # such as [date desc, state]; without it the rows keep the order of the source',
    '  source:',
    '    header: ["column_1","column_2","column_3","column_4"]',
    '  fields:',
    '    - { name: column_1, type: integer } # all 50 values are whole numbers of at most 2 digits',
    '    - { name: column_2, type: string } # 50 texts of at most 5 characters, such as "0"; all but 1 are written as point',
    '    - { name: column_3, type: datetime } # all 50 values are written yyyy-mm-dd hh:mm:ss',
    '    - { name: column_4, type: string, mask: cpf } # all 50 values look like a CPF, which is personal: see whether it must be hidden',
  ])
})

test.each<[name: string, content: string | Buffer, message: RegExp]>([
  ['x.csv', '<html></html>', /^x\.csv is a page of HTML/],
  ['x.csv', Buffer.from('PK\u0003\u0004'), /^x\.csv is a zip or xlsx file/],
  ['x.csv', '', /^no delimiter splits it/],
])('%s that is no CSV is refused', async (name, content, message) => {
  await expect(suggested(name, content)).rejects.toThrow(message)
})
