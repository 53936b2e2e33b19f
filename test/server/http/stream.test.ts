import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { ConcurrencyLimit } from '../../../server/base/queue.ts'
import { SendBudget, sendStream } from '../../../server/http/send.ts'

/** Answers that are sent in chunks. */

const parts = ['one, ', 'two, ', 'three']

/** Chunks whose files take long to be closed. */
async function* slowToEnd(): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
  await setTimeout(50)
}

test.each([true, false])(
  'a request does not wait until the files of the previous answer are closed (length stated: %j)',
  async (isLengthTold) => {
    const limit = new ConcurrencyLimit({ max: 1, queueTimeoutMs: 0, queueLengthMax: 1 }, 'exports')
    const budget = new SendBudget({ unsentBytesMax: 1_000_000, sendTimeoutMs: 10_000 })
    const server = http.createServer((_req, res) => {
      if (isLengthTold) res.setHeader('Content-Length', parts.join('').length)
      limit
        .during('client', new AbortController().signal, () => sendStream(res, slowToEnd(), budget))
        .catch((error: unknown) => res.writeHead(503).end(String(error)))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const answers: unknown[] = []
    for (let ask = 0; ask < 3; ask += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/`)
      answers.push([answer.status, await answer.text()])
    }
    server.close()
    server.closeAllConnections()
    expect(answers).toEqual(Array.from({ length: 3 }, () => [200, parts.join('')]))
  },
)
