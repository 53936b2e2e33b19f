import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { endWithTests } from './ending.ts'
import { programPath } from '../support/installed.ts'
import { until } from '../support/until.ts'

const redis = programPath('redis-server')
export const hasRedis = redis !== null

/** A Redis of the tests' own, ended with their file. */
export async function startRedis(port: number): Promise<ChildProcess> {
  const child = spawn(redis ?? '', ['--port', String(port), '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  })
  endWithTests(child)
  await until(async () => {
    const socket = net.connect(port, '127.0.0.1')
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isThere
  })
  return child
}
