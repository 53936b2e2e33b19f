import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import { programPath } from '../../support/installed.ts'
import { describeWith, pythonClients } from '../../support/needs.ts'
import { rawGet, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, temporaryFolder, workshop } from '../../support/workshop.ts'

/** CSV for spreadsheets, read by the commands of the docs. */

test.each([true, false])(
  'numbers, times and texts have the form in which spreadsheets write them (row store: %s)',
  async (packed) => {
    const names = ['f:float', 'd:decimal:10:2', 't:datetime', 'w:text', 'i:integer', 'b:bool', 'p:point']
    const shop = await workshop(
      catalogAround([{ name: 't', order: ['i'], packed, fields: names.map(fieldOf) }]),
      {
        'd/t.csv': [
          'f,d,t,w,i,b,p',
          '1.5e-7,-1234.50,2020-01-02 03:04:05.5,"a;b",1,true,"-1.5,2"',
          '2,0,2020-01-02 00:00:00,"a,b ""c""",2,false,"3,4"',
          ',,,"",3,,',
          '10.25,7,2021-01-01 10:00:00,"=1+1\nx.y",4,true,',
          '',
        ].join('\n'),
      },
    )
    await shop.ingest()
    const { app, close } = await serve(shop)
    const due = [
      '\ufefff;d;t;w;i;b;p',
      '1,5e-07;-1234,50;2020-01-02 03:04:05.5;"a;b";1;true;-1.5,2',
      '2,0;0,00;2020-01-02 00:00:00;"a,b ""c""";2;false;3,4',
      ';;;;3;;',
      `10,25;7,00;2021-01-01 10:00:00;"'=1+1\nx.y";4;true;`,
      '',
    ].join('\r\n')
    for (const address of ['data/?', 'export/?', 'data/?i__gt=0&', 'data/?ordering=i&page_size=4&']) {
      const answer = await rawGet(app, `/api/v1/dataset/d/t/${address}format=csv-excel`, {
        'Accept-Encoding': 'identity',
      })
      expect([answer.status, answer.body.toString()]).toEqual([200, due])
      expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="d-t-.*\.csv"$/)
    }
    // Caches of one format must not serve the other.
    const plain = [
      'f,d,t,w,i,b,p',
      '1.5e-07,-1234.50,2020-01-02T03:04:05.5,a;b,1,true,"-1.5,2"',
      '2.0,0.00,2020-01-02T00:00:00,"a,b ""c""",2,false,"3,4"',
      ',,,,3,,',
      '10.25,7.00,2021-01-01T10:00:00,"=1+1\nx.y",4,true,',
      '',
    ].join('\n')
    const second = await serve(shop)
    for (const [asked, formats] of [
      [app, ['csv']],
      [second.app, ['csv', 'csv-excel']],
    ] as const) {
      for (const format of formats) {
        const { body } = await rawGet(asked, `/api/v1/dataset/d/t/data/?i__gt=0&format=${format}`)
        expect(body.toString()).toBe(format === 'csv' ? plain : due)
      }
    }
    await second.close()
    await close()
  },
)

/** Texts that spreadsheets convert, or run. */
const hazards = [
  '00123|11222333000181|12345678901234567890|1.10|1,5|1.234.567,89|-1|+1|1e5|1E-3|50%|R$ 5|5 €|(5)|1 1/2|1/2|3-4',
  '12/05/2020|2020-01-02|10:30|10:30 PM| 7|7 |mar 20|MAR1|SEPT2|1 de maio de 2020|jan/20|3-dez',
  'TRUE|verdadeiro|Falsch|#N/A|#REF!|11.222.333/0001-81|+55 11 9999-9999|1\u00a0000',
].flatMap((line) => line.split('|'))
const formulas = [
  '=1+1',
  '=cmd|x',
  '+a',
  '-b',
  '@SUM(A1)',
  '\t=1+1',
  '\r=1+1',
  ' =x',
  '=1;2"3',
  `-${'9 '.repeat(200)}`,
  '=a\nb',
]
const inert = [
  'São',
  'Maria',
  'a=1',
  "'=1",
  'marte 12 x',
  '5 rue',
  'B52',
  'true story',
  'item 1.10',
  '#',
  'e',
  '1\n2',
]

async function spreadsheetOf(
  texts: readonly string[],
  packed: boolean,
): Promise<{ body: Buffer; address: string }[]> {
  const quoted = texts.map((text, n) => `${n},"${text.replaceAll('"', '""')}"`)
  const shop = await workshop(
    catalogAround([{ name: 't', order: ['n'], packed, fields: ['n:integer', '=s:string'].map(fieldOf) }]),
    { 'd/t.csv': `n,=s\n${quoted.join('\n')}\n` },
  )
  await shop.ingest()
  const { app } = await serve(shop)
  const bodies: { body: Buffer; address: string }[] = []
  for (const address of ['data/?', 'export/?', 'data/?n__gte=0&']) {
    const { status, body } = await rawGet(app, `/api/v1/dataset/d/t/${address}format=csv-excel`)
    expect(status).toBe(200)
    bodies.push({ body, address })
  }
  return bodies
}

test.each([true, false])('no text is converted, and none is a formula (row store: %s)', async (packed) => {
  const due = ["'=s", ...hazards.map((text) => `="${text}"`), ...formulas.map((text) => `'${text}`), ...inert]
  for (const { body, address } of await spreadsheetOf([...hazards, ...formulas, ...inert], packed)) {
    const rows: string[][] = parse(body, { bom: true, delimiter: ';', recordDelimiter: '\r\n' })
    expect([address, rows.map(([, text]) => text)]).toEqual([address, due])
  }
})

const office = programPath('soffice')
describeWith(office !== null, 'LibreOffice (Debian: libreoffice-calc-nogui)')('in LibreOffice', () => {
  test.each(['1046', '1031', '1033'])(
    'every text equals the text in the table, if imported with the language %s',
    async (language) => {
      const texts = [...hazards, ...inert.filter((text) => !text.includes('\n'))]
      const [{ body } = { body: Buffer.of() }] = await spreadsheetOf(texts, true)
      const folder = await temporaryFolder()
      await writeFile(path.join(folder, 't.csv'), body)
      const read = `Text - txt - csv (StarCalc):59,34,76,1,,${language},false,true`
      const written = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,false'
      const args = [`-env:UserInstallation=file://${folder}/profile`, '--headless', '--infilter=' + read]
      await promisify(execFile)(office ?? '', [
        ...args,
        '--convert-to',
        written,
        '--outdir',
        path.join(folder, 'out'),
        path.join(folder, 't.csv'),
      ])
      const rows: string[][] = parse(await readFile(path.join(folder, 'out/t.csv')), { bom: true })
      expect(rows.slice(1).map(([, text]) => text)).toEqual(texts)
    },
    60_000,
  )
})

const clients = process.env['ACERVO_CLIENTS'] ?? ''
describeWith(clients !== '', pythonClients)('in pandas', () => {
  test('every text equals the text in the table, if the commands of the docs read it', async () => {
    const docs = await readFile('docs/reference/api.md', 'utf8')
    const snippets = [...docs.matchAll(/```python\n(.*?)```/gs)].map(([, code = '']) => code)
    const snippet = snippets.find((code) => code.includes('csv-excel')) ?? ''
    const [{ body } = { body: Buffer.of() }] = await spreadsheetOf(hazards, true)
    const file = path.join(await temporaryFolder(), 't.csv')
    await writeFile(file, body.toString().replace("'=s", 'cnpj'))
    const script = `${snippet.replace(/'http[^']*'/, `'${file}'`)}\nprint(rows['cnpj'].to_json(orient='values'))`
    expect(script).toContain(file)
    const { stdout } = await promisify(execFile)(path.join(clients, 'python'), ['-c', script])
    expect(JSON.parse(stdout)).toEqual(hazards)
  }, 60_000)
})
