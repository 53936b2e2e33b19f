import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { startService } from '../servers.ts'
import type { Peer } from './peer.ts'
import type { Source } from './source.ts'

export async function acervo({ folder, file }: Source): Promise<Peer> {
  const environment = {
    CATALOG: 'catalog.yaml',
    SOURCES: path.dirname(path.dirname(file)),
    WAREHOUSE: path.join(folder, 'warehouse'),
    RATE_LIMITS: 'off',
  }
  const job = spawnSync(process.execPath, ['dist/ingest/main.js', 'ingest', 'covid19/caso_full'], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '16', ...environment },
    stdio: 'inherit',
  })
  if (job.status !== 0) throw new Error('covid19/caso_full was not published')
  const { port, pid, stop } = await startService({ ...environment, CACHE_MB: '0' })
  const stateUrl = (state: string): string => `${urlUpToPageSize(port)}100&state=${state}`
  const pages = await pagesOf(`${urlUpToPageSize(port)}100`)
  return {
    name: 'Acervo',
    asks: {
      page: (share) => `${urlUpToPageSize(port)}100&page=${1 + Math.floor(share * pages)}`,
      first: stateUrl,
      deep: (state, { rows: count }) => `${stateUrl(state)}&page=${Math.floor(count / 200)}`,
      ordered: (state) => `${stateUrl(state)}&ordering=-order_for_place`,
      contains: (text) => `${urlUpToPageSize(port)}100&city__contains=${text}`,
      count: (state) => `${urlUpToPageSize(port)}1&state=${state}`,
      groups: (fields) => `${tableUrl(port)}/aggregate/?group=${fields.join()}&page_size=1000`,
      distinct: (field) => `${tableUrl(port)}/aggregate/?group=${field}&page_size=1000`,
    },
    rowsIn: (body) => (body as { results: unknown[] }).results.length,
    countIn: (body) => (body as { count: number }).count,
    roots: [pid],
    stop,
  }
}

function tableUrl(port: number): string {
  return `http://127.0.0.1:${port}/api/v1/dataset/covid19/caso_full`
}

function urlUpToPageSize(port: number): string {
  return `${tableUrl(port)}/data/?page_size=`
}

async function pagesOf(address: string): Promise<number> {
  const { count } = (await (await fetch(address)).json()) as { count: number }
  return Math.floor(count / 100)
}
