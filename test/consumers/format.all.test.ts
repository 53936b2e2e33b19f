import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { describeWith, pythonClients } from '../support/needs.ts'
import { serve, walk } from '../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../support/workshop.ts'

/** A reader in another language that follows docs/reference/format.md has the rows that the API has. */

const clients = process.env['ACERVO_CLIENTS'] ?? ''
const run = promisify(execFile)

const lineOf = (n: number): string => {
  const text = n % 7 === 0 ? '' : `${'São "Paulo", a long text '.repeat(n % 5)}${n}`
  const cells = [n, n % 9 === 0 ? '' : `f${n % 5}`, text, n / 8, (n * 37) / 100, n % 3 === 0 ? '' : n * 9e10]
  return cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(',')
}

describeWith(clients !== '' && existsSync(clients), pythonClients)(
  'a Python reader that follows the documented format of a warehouse',
  () => {
    test('reads every row', async () => {
      const fields = ['n:integer', 'few:string', 'text:string', 'x:float', 'd:decimal:12:2', 'wide:integer']
      const shop = await workshop(
        catalogAround([{ name: 't', order: ['n'], filters: ['few'], fields: fields.map(fieldOf) }]),
      )
      const count = 128 * 2048 + 1000
      const lines = Array.from({ length: count }, (_, n) => lineOf(n))
      await shop.write('d/t.csv', `n,few,text,x,d,wide\n${lines.join('\n')}\n`)
      const [outcome] = await shop.ingest()
      if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
      const { stdout } = await run(
        path.join(clients, 'python'),
        ['test/consumers/format.py', path.join(shop.warehouse, 'd', 't')],
        { maxBuffer: 1e9 },
      )
      const outputLines = stdout.trimEnd().split('\n')
      const { app } = await serve(shop)
      const due = (await walk(app, '/api/v1/dataset/d/t/data/?page_size=10000')).flatMap(
        ({ results }) => results,
      )
      expect(outputLines.length).toBe(due.length)
      const different = outputLines.flatMap((line, row) => {
        return isDeepStrictEqual(JSON.parse(line), due[row]) ? [] : [[line, due[row]]]
      })
      expect(different.slice(0, 3)).toEqual([])
    }, 120_000)
  },
)
