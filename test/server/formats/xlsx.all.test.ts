import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import { programPath } from '../../support/installed.ts'
import { describeWith, pythonClients } from '../../support/needs.ts'
import { publishSamples } from '../../support/samples.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { temporaryFolder } from '../../support/workshop.ts'
import { allTables, tableId } from '../../../core/catalog/catalog.ts'

/** Workbooks of all sample tables in programs of others: openpyxl, pandas and LibreOffice. */

const clients = process.env['ACERVO_CLIENTS'] ?? ''
const run = promisify(execFile)

/** Numbers, days and truth values are shown in formats of the program; texts are not. */
const isText = (text: string): boolean => !/^[-\d]|^(true|false)$/i.test(text)

let service: Service
let home: string
let tables: string[]
beforeAll(async () => {
  const shop = await publishSamples()
  service = await serve(shop)
  home = await temporaryFolder()
  tables = allTables(shop.catalog).map(tableId)
  for (const [index, table] of tables.entries()) {
    for (const format of ['xlsx', 'ndjson', 'csv']) {
      const { body } = await rawGet(service.app, `/api/v1/dataset/${table}/export/?format=${format}`)
      await writeFile(path.join(home, `${index}.${format}`), body)
    }
  }
}, 120_000)
afterAll(async () => service.close())

/** Compares each cell with the JSON of its row, and prints the differences and the number of cells. */
const program = `
import datetime, json, sys, warnings
import openpyxl, pandas
warnings.simplefilter('error')
cells, wrong = 0, []
for index in range(int(sys.argv[1])):
    book = openpyxl.load_workbook(f'{index}.xlsx')
    sheet, about = book.worksheets
    names = [line[3] for line in about.iter_rows(values_only=True) if line[3]][1:]
    rows = [json.loads(line) for line in open(f'{index}.ndjson')]
    lines = list(sheet.iter_rows(min_row=2, values_only=True))
    frame = pandas.read_excel(f'{index}.xlsx')
    if len(lines) != len(rows) or frame.shape != (len(rows), len(names)) or set(names) != set(rows[0]):
        wrong.append([index, len(lines), len(rows), frame.shape, names])
    if sheet.freeze_panes != 'A2' or not sheet.auto_filter.ref:
        wrong.append([index, 'no frozen line or no filter'])
    for line, row in zip(lines, rows):
        for value, name in zip(line, names):
            due = row[name]
            if isinstance(value, datetime.datetime):
                value = value.isoformat()
                if 'T' not in due: value = value.removesuffix('T00:00:00')
            if isinstance(due, (dict, list)): continue
            cells += 1
            if value != due: wrong.append([index, name, repr(value), repr(due)])
print(json.dumps([cells > 100000, wrong[:20]]))
`

describeWith(clients !== '', pythonClients)('openpyxl and pandas', () => {
  test('read workbooks with the values and types of the JSON, without a warning', async () => {
    await writeFile(path.join(home, 'compare.py'), program)
    const { stdout } = await run(path.join(clients, 'python'), ['compare.py', String(tables.length)], {
      cwd: home,
    })
    expect(JSON.parse(stdout)).toEqual([true, []])
  })
})

const soffice = programPath('soffice')

describeWith(soffice !== null, 'LibreOffice (Debian: libreoffice-calc-nogui)')('LibreOffice', () => {
  test('opens every workbook with all rows and columns, and reads its texts', async () => {
    const rowsOf = async (file: string): Promise<string[][]> =>
      parse(await readFile(path.join(home, file)), { relax_column_count: false })
    const filter = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1'
    const files = tables.map((_, index) => `${index}.xlsx`)
    const profile = `-env:UserInstallation=file://${home}/profile`
    await run(soffice ?? '', [profile, '--headless', '--convert-to', filter, ...files], { cwd: home })
    for (const [index, table] of tables.entries()) {
      const [heads = [], ...shown] = await rowsOf(`${index}-Dados.csv`)
      const [names = [], ...due] = await rowsOf(`${index}.csv`)
      expect([table, heads.length, shown.length]).toEqual([table, names.length, due.length])
      for (const [row, line] of due.entries()) {
        const texts = line.map((text) => (isText(text) ? text.replaceAll('\r', '') : ''))
        const read = line.map((text, at) =>
          isText(text) ? (shown[row]?.[at] ?? '').replaceAll('\r', '') : '',
        )
        expect(read).toEqual(texts)
      }
    }
  })
})
