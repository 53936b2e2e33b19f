import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import type { Worker } from 'node:cluster'
import { ConnectionDispatcher } from '../../../server/process/workers/connection-dispatcher.ts'
import { freePort } from '../../support/ports.ts'
import { until } from '../../support/until.ts'

/** A stand-in for a worker, in this process. It answers with its name, or leaves its connections waiting if it does not take them. */
function workerNamed(name: string, reception: ConnectionDispatcher, takes: boolean) {
  const given: { id: number; socket: Socket }[] = []
  const at = { isDead: false }
  const send = ({ connection }: { connection: number }, socket: Socket): boolean => {
    given.push({ id: connection, socket })
    if (takes) socket.end(name, () => reception.confirm(connection))
    return true
  }
  const worker = { isDead: () => at.isDead, process: { send } } as unknown as Worker
  const die = (): void => {
    at.isDead = true
    reception.remove(worker)
  }
  return { worker, given, die }
}

let reception: ConnectionDispatcher
let port: number
beforeEach(async () => {
  reception = new ConnectionDispatcher()
  port = await freePort()
  await reception.listen(port, '127.0.0.1')
})
afterEach(() => {
  reception.close()
})

/** All that comes over a new connection until it is closed. */
async function answerOfWorker(): Promise<string> {
  const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
  let text = ''
  socket.on('data', (chunk: string) => (text += chunk)).on('error', () => (text += ' (cut off)'))
  await once(socket, 'close')
  return text
}

test('connections go to the workers in turn', async () => {
  for (const name of ['a', 'b']) reception.add(workerNamed(name, reception, true).worker)
  expect([await answerOfWorker(), await answerOfWorker(), await answerOfWorker()]).toEqual(['a', 'b', 'a'])
})

test('connections that arrive while there is no worker wait for the first one', async () => {
  let accepted = 0
  const count = (): void => void (accepted += 1)
  subscribe('net.server.socket', count)
  const answers = [answerOfWorker(), answerOfWorker(), answerOfWorker()]
  await until(() => accepted === 3)
  unsubscribe('net.server.socket', count)
  reception.add(workerNamed('b', reception, true).worker)
  expect(await Promise.all(answers)).toEqual(['b', 'b', 'b'])
})

test('a connection that a worker had not accepted when it died goes to another one', async () => {
  const dying = workerNamed('a', reception, false)
  reception.add(dying.worker)
  const answers = [answerOfWorker(), answerOfWorker(), answerOfWorker()]
  await until(() => dying.given.length === 3)
  reception.confirm(dying.given[0]?.id ?? 0)
  reception.add(workerNamed('b', reception, true).worker)
  dying.die()
  expect(await Promise.all(answers)).toEqual(['', 'b', 'b'])
})

test('a worker that is only removed keeps its connections', async () => {
  const leaving = workerNamed('a', reception, false)
  reception.add(leaving.worker)
  const answer = answerOfWorker()
  await until(() => leaving.given.length === 1)
  reception.remove(leaving.worker)
  reception.add(workerNamed('b', reception, true).worker)
  leaving.given[0]?.socket.end('a')
  expect(await answer).toBe('a')
  expect(await answerOfWorker()).toBe('b')
})
