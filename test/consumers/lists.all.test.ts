import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { listen, type Listening } from '../../server/http/listen.ts'
import { describeWith, pythonClients } from '../support/needs.ts'
import { freePort } from '../support/ports.ts'
import { serve } from '../support/service.ts'
import { temporaryFolder, tinyCatalog, workshop } from '../support/workshop.ts'

/** Lists of any texts, sent by generated clients as each writes lists by default. */

const run = promisify(execFile)
const clients = process.env['ACERVO_CLIENTS'] ?? ''
const names = [
  'A, B',
  'A',
  'B',
  'C++',
  'D & E',
  'say "yes"',
  'São João',
  'x;y',
  '(z)',
  '50%',
  'a=b#c?d/e',
  ' F ',
]
const lists = [...names.map((name) => [name]), ['A, B', 'C++'], ['A', 'B'], ['say "yes"', 'D & E'], names]

describeWith(existsSync(path.join(clients, 'openapi-python-client')), pythonClients)('lists', () => {
  let base: string
  let listening: Listening
  beforeAll(async () => {
    const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`)
    const shop = await workshop(tinyCatalog({ fields: ['name:string'], filters: ['name'] }), {
      'd/t.csv': `name\n${quoted.join('\n')}\nother\n`,
    })
    await shop.ingest()
    const port = await freePort()
    base = `http://127.0.0.1:${port}`
    const { app, log } = await serve(shop, { publicUrl: new URL(base) })
    const host = '127.0.0.1'
    const times = { headersTimeoutMs: 10_000, longestAnswerMs: 60_000 }
    listening = await listen(app, { host, port, log, ...times, connectionsMax: 100 })
  })
  afterAll(() => listening.stop(0))

  test('are sent with all of their items by JavaScript clients', async () => {
    const there = await temporaryFolder()
    await symlink(path.join(clients, '..', 'node_modules'), path.join(there, 'node_modules'))
    await copyFile('test/consumers/lists.txt', path.join(there, 'lists.mjs'))
    const { stdout } = await run(process.execPath, [
      path.join(there, 'lists.mjs'),
      base,
      JSON.stringify(lists),
    ])
    expect(JSON.parse(stdout)).toEqual(lists.map(({ length }) => [length, length, length]))
  }, 60_000)

  test('are sent with all of their items by the generated Python client', async () => {
    const there = await temporaryFolder()
    const target = `${base}/api/v1/dataset/d/t/openapi.json`
    const made = ['generate', '--url', target, '--output-path', path.join(there, 'client'), '--meta', 'none']
    await run(path.join(clients, 'openapi-python-client'), made)
    const script = path.resolve('test/consumers/lists.py')
    const { stdout } = await run(path.join(clients, 'python'), [script, base, JSON.stringify(lists)], {
      cwd: there,
    })
    expect(JSON.parse(stdout)).toEqual(lists.map(({ length }) => length))
  }, 60_000)
})
