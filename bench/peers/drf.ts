import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { stopChild, freePort, startProgram, type Peer } from './peer.ts'
import type { Source } from './source.ts'

/** Django REST framework over PostgreSQL: one process of gunicorn, its database connections kept open. */
export async function drf({ folder, file, fields, bin, rows }: Source): Promise<Peer> {
  const python = path.join(bin, 'python')
  const database = spawn(python, ['bench/peers/drf.py', 'database', path.join(folder, 'postgresql')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = (await once(database.stdout, 'data')) as [Buffer]
  const { address, pid } = JSON.parse(line.toString()) as { address: string; pid: number }
  const environment = { DATABASE: address, FIELDS: fields }
  const load = spawnSync(python, ['bench/peers/drf.py', 'load', file], {
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  })
  if (load.status !== 0) throw new Error('PostgreSQL did not take the table')
  const port = await freePort()
  const urlUpToPageSize = `http://127.0.0.1:${port}/rows/?page_size=`
  const server = await startProgram(
    path.join(bin, 'gunicorn'),
    [
      '--worker-class=gthread',
      '--threads=1',
      `--bind=127.0.0.1:${port}`,
      '--chdir=bench/peers',
      'drf:application',
    ],
    environment,
    `${urlUpToPageSize}1`,
  )
  const stateUrl = (state: string): string => `${urlUpToPageSize}100&state=${state}`
  return {
    name: 'DRF (PostgreSQL)',
    asks: {
      page: (share) => `${urlUpToPageSize}100&page=${1 + Math.floor((share * rows) / 100)}`,
      first: stateUrl,
      deep: (state, { rows: count }) => `${stateUrl(state)}&page=${Math.floor(count / 200)}`,
      ordered: (state) => `${stateUrl(state)}&ordering=-order_for_place`,
      contains: (text) => `${urlUpToPageSize}100&city__icontains=${text}`,
      count: (state) => `${urlUpToPageSize}1&state=${state}`,
    },
    rowsIn: (body) => (body as { results: unknown[] }).results.length,
    countIn: (body) => (body as { count: number }).count,
    roots: [server.pid ?? 0, pid],
    stop: async () => {
      await stopChild(server)
      const databaseExit = once(database, 'exit')
      database.stdin.end()
      await databaseExit
    },
  }
}
