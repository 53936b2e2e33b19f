import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { until } from '../support/until.ts'

/** ACERVO_CLICKHOUSE names the folder of chdb for Node: ClickHouse in a process, before which a small server speaks its HTTP. */
const chdb = process.env['ACERVO_CLICKHOUSE'] ?? ''

export const hasClickHouse = chdb !== '' && existsSync(path.join(chdb, 'package.json'))

/** @returns its process, and its address as CLICKHOUSE_URL has it, once it answers */
export async function spawnClickHouse(
  port: number,
  folder: string,
): Promise<{ readonly address: string; readonly child: ChildProcess }> {
  const child = spawn(
    process.execPath,
    ['dist/test/components/clickhouse-http.js', chdb, String(port), folder],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  await until(async () => (await fetch(`http://127.0.0.1:${port}/ping`).catch(() => null)) !== null)
  return { address: `http://127.0.0.1:${port}/acervo`, child }
}
