import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { whenOver } from './over.ts'

interface ConnectionState {
  isAnswering: boolean
  /** The last that came, answered or not. */
  latest: IncomingMessage | null
  /** Requests that came before the one ahead of them was answered, to be begun in turn. */
  readonly pipelined: (() => void)[]
}

/** More at once is no use to anyone: the connection takes no more, and ends after them. */
const pipelinedMax = 100

/**
 * Which connections are open and still answering, so that a stop neither cuts answers nor waits for the silent. A
 * connection has one request in work at a time: a reader who sends many in a row gains nothing over others, and
 * all that hangs on the end of an answer holds, since Node tells it only of the one that has the socket.
 */
export class OpenConnections {
  readonly #states = new Map<Duplex, ConnectionState>()
  readonly #ending = new WeakSet<Duplex>()
  #stopping = false

  opened(connection: Duplex): void {
    this.#states.set(connection, { isAnswering: false, latest: null, pipelined: [] })
    connection.once('close', () => this.#states.delete(connection))
  }

  /** Begins to answer when it is the turn of this response on its connection, and not at all when that is closed. */
  inTurn(connection: Duplex, response: ServerResponse, answer: () => void): void {
    const state = this.#states.get(connection)
    // Behind one that was left out, none would ever get the connection.
    if (state === undefined || this.#ending.has(connection)) return
    state.latest = response.req
    const begin = (): void => {
      state.isAnswering = true
      if (this.#stopping) response.setHeader('Connection', 'close')
      whenOver(response, () => this.#answered(connection, state))
      answer()
    }
    if (!state.isAnswering) begin()
    else if (state.pipelined.length < pipelinedMax) state.pipelined.push(begin)
    else {
      this.#ending.add(connection)
      connection.pause()
    }
  }

  /** Whether what is read now belongs to a request that was begun to be answered already. */
  isInBody(connection: Duplex): boolean {
    return this.#states.get(connection)?.latest?.complete === false
  }

  isAnswering(connection: Duplex): boolean {
    return this.#states.get(connection)?.isAnswering === true
  }

  endAfterAnswers(connection: Duplex): void {
    this.#ending.add(connection)
  }

  /** Ends those without an answer now, the others when theirs is sent. */
  endAll(): void {
    this.#stopping = true
    for (const [connection, { isAnswering }] of this.#states) if (!isAnswering) end(connection)
  }

  destroyAll(): void {
    for (const connection of this.#states.keys()) connection.destroy()
  }

  #answered(connection: Duplex, state: ConnectionState): void {
    state.isAnswering = false
    if (connection.destroyed) return
    const next = state.pipelined.shift()
    if (next !== undefined) next()
    else if (this.#stopping || this.#ending.has(connection)) end(connection)
  }
}

/** Sends what is written, then closes without waiting for the other side. */
function end(connection: Duplex): void {
  connection.end(() => connection.destroy())
}
