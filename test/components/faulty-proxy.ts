import http from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { endWithFile } from '../support/each-file.ts'

/** Fault of a request in transfer. */
export interface Fate {
  /** It is not forwarded at all, or what came of it never arrives. */
  readonly lose?: 'request' | 'answer'
  /** Answered so instead. */
  readonly status?: number
  /** Milliseconds before it is forwarded. */
  readonly delay?: number
  /** A bit of the body that comes back is another. */
  readonly flip?: boolean
}

export interface Asked {
  /** From 1. */
  readonly number: number
  readonly method: string
  readonly path: string
}

/** A line to a server over which everything goes, on which things happen. */
export interface Between {
  readonly address: string
  /** Called for each request from now on. */
  fate: (asked: Asked) => Fate
  /** Nobody is let in, as when the server is stopped. */
  isCut: boolean
  readonly count: () => number
}

export async function startBetween(target: string): Promise<Between> {
  const { hostname, port } = new URL(target)
  let number = 0
  const agent = new http.Agent({ keepAlive: true })
  const server = http.createServer((req, res) => {
    void (async () => {
      number += 1
      const fate = between.fate({ number, method: req.method ?? '', path: req.url ?? '' })
      if (fate.delay !== undefined) await wait(fate.delay)
      if (fate.status !== undefined) {
        req.resume()
        res.writeHead(fate.status).end()
        return
      }
      if (fate.lose === 'request' || between.isCut) {
        req.socket.destroy()
        return
      }
      const forwarded = http.request(
        { hostname, port, agent, method: req.method, path: req.url, headers: req.headers, setHost: false },
        (answer) => {
          if (fate.lose === 'answer') {
            answer.resume()
            req.socket.destroy()
            return
          }
          res.writeHead(answer.statusCode ?? 500, answer.headers)
          let isFlipped = fate.flip !== true
          answer.on('data', (chunk: Buffer) => {
            if (!isFlipped && chunk.length > 0) {
              chunk[chunk.length >> 1] = (chunk[chunk.length >> 1] ?? 0) ^ 1
              isFlipped = true
            }
            res.write(chunk)
          })
          answer.on('end', () => res.end())
        },
      )
      forwarded.on('error', () => req.socket.destroy())
      req.pipe(forwarded)
    })()
  })
  server.on('connection', (socket) => {
    if (between.isCut) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const ownPort = typeof address === 'object' && address !== null ? address.port : 0
  const between: Between = {
    address: `http://127.0.0.1:${ownPort}`,
    fate: () => ({}),
    isCut: false,
    count: () => number,
  }
  endWithFile(() => {
    server.closeAllConnections()
    server.close()
    agent.destroy()
  })
  return between
}
