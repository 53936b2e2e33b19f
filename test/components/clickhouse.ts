import { spawnClickHouse } from './clickhouse-process.ts'
import { endWithTests } from './ending.ts'
import { freePort } from '../support/ports.ts'
import { temporaryFolder } from '../support/workshop.ts'

/** @returns its address, as CLICKHOUSE_URL has it, and its process */
export async function startClickHouse(): Promise<{ readonly address: string; readonly pid: number }> {
  const { address, child } = await spawnClickHouse(await freePort(), await temporaryFolder())
  endWithTests(child)
  return { address, pid: child.pid ?? 0 }
}
