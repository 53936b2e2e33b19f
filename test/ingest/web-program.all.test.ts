import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { file, slow, startWeb, status } from './support/web-server.ts'
import { temporaryFolder } from '../support/workshop.ts'

const csv = 'cnpj,razao_social,uf\n00000000000191,BANCO DO BRASIL SA,DF\n'
const table = 'socios-brasil/empresas'
const at = `/base/${table}.csv`

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** Milliseconds from its last line until it ended. */
  readonly lingered: number
}

/** The built program as an operator runs it; `npm test` has built it. */
function run(args: readonly string[], settings: Record<string, string>): Promise<Ended> {
  const env = { PATH: process.env['PATH'], HOME: os.tmpdir(), UV_THREADPOOL_SIZE: '8', ...settings }
  const child = spawn(process.execPath, ['dist/ingest/main.js', 'ingest', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err, last] = ['', '', 0]
  const heard = (): number => (last = Date.now())
  child.stdout.setEncoding('utf8').on('data', (text: string) => heard() && (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => heard() && (err += text))
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, out, err, lingered: Date.now() - last }))
  })
}

describe('the ingest program with sources on the web', () => {
  test('publishes, reports unchanged files, fails and recovers, and exits when its work is done', async () => {
    const web = await startWeb({ [at]: file(csv, { etag: '"1"' }) })
    const WAREHOUSE = path.join(await temporaryFolder(), 'warehouse')
    const settings = { SOURCES: `${web.origin}/base/`, WAREHOUSE }
    const ended: Ended[] = []
    const runOnce = async (): Promise<unknown[]> => {
      const result = await run([table], settings)
      ended.push(result)
      // A slow machine also gets lines of progress, which say how far a step is.
      return [result.code, result.out, result.err.replaceAll(/^.*: [a-z]+ \d+ %.*\n/gm, '')]
    }
    await expect(runOnce()).resolves.toEqual([
      0,
      expect.stringMatching(
        /^socios-brasil\/empresas: published 1 row in .*\n1 published, 0 unchanged, 0 failed\n$/,
      ),
      '',
    ])
    await expect(runOnce()).resolves.toEqual([
      0,
      expect.stringMatching(
        /^socios-brasil\/empresas: unchanged, 1 row since .*\n0 published, 1 unchanged, 0 failed\n$/,
      ),
      '',
    ])
    web.at(at, status(403, {}, 'no'))
    const failure = path.join(WAREHOUSE, table, 'failure.json')
    await expect(runOnce()).resolves.toEqual([
      1,
      `${table}: FAILED, ${web.origin}${at} answers 403: check the address\n` +
        `  report: ${failure}\n0 published, 0 unchanged, 1 failed\n`,
      '',
    ])
    web.at(at, status(503, { 'retry-after': '0' }), slow(csv.replace('DF', 'SP'), 9, 20))
    await expect(runOnce()).resolves.toEqual([
      0,
      expect.stringContaining('1 published, 0 unchanged, 0 failed\n'),
      `${web.origin}${at}: the server answers 503; next try in 0.0 s\n`,
    ])
    expect(web.asked).toEqual([at, ...Array.from({ length: 4 }, () => `${at} if-none-match: "1"`)])
    // Connections that are kept for later requests would hold it for a minute.
    expect(Math.max(...ended.map(({ lingered }) => lingered))).toBeLessThan(30_000)
  })

  test('exits with 1 if there is no source', async () => {
    const web = await startWeb()
    const settings = { SOURCES: `${web.origin}/base`, WAREHOUSE: path.join(await temporaryFolder(), 'w') }
    const { code, out, err, lingered } = await run([table], settings)
    expect([code, out, err]).toEqual([
      1,
      `no source in ${settings.SOURCES} for ${table}\n0 published, 0 unchanged, 0 failed\n`,
      `there is nothing to ingest: put sources into ${settings.SOURCES}, set SOURCES, or copy samples with \`acervo sample\`\n`,
    ])
    expect(lingered).toBeLessThan(30_000)
  })

  test.each(['ftp://example.org/base', 'http://example.org/base?year=2026', 'https://me:secret@example.org'])(
    'does not start with SOURCES=%s',
    async (SOURCES) => {
      const { code, out, err } = await run([table], { SOURCES })
      expect([code, out, err]).toEqual([
        1,
        '',
        `SOURCES is "${SOURCES}", and must be the path of a folder, or an http(s) address without query or password\n`,
      ])
    },
  )
})
