import { spawn, spawnSync } from 'node:child_process'
import path from 'node:path'
import { endWithTests } from './ending.ts'
import { freePort } from './ports.ts'
import { until } from './until.ts'
import { temporaryFolder } from './workshop.ts'

/** ACERVO_CLICKHOUSE names a Python that has chdb: ClickHouse in a process, before which a small server speaks its HTTP. */
const python = process.env['ACERVO_CLICKHOUSE'] ?? ''

export const hasClickHouse = python !== '' && spawnSync(python, ['-c', 'import chdb']).status === 0
if (!hasClickHouse)
  process.stderr.write('ACERVO_CLICKHOUSE names no Python with chdb: the tests with ClickHouse are skipped\n')

/** @returns its address, as CLICKHOUSE_URL has it, and its process */
export async function startClickHouse(): Promise<{ readonly address: string; readonly pid: number }> {
  const port = await freePort()
  const script = path.join(import.meta.dirname, 'clickhouse-http.py')
  const server = spawn(python, [script, String(port), await temporaryFolder()], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  endWithTests(server)
  const address = `http://127.0.0.1:${port}/acervo`
  await until(async () => (await fetch(`http://127.0.0.1:${port}/ping`).catch(() => null)) !== null)
  return { address, pid: server.pid ?? 0 }
}
