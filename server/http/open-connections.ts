import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { onResponseEnd } from './send.ts'

interface ConnectionState {
  isAnswering: boolean
  /** Latest response that was begun. */
  answer: ServerResponse | null
  /** Time when the connection became idle, in ms. */
  idleSince: number
  /** Latest request, answered or not. */
  latest: IncomingMessage | null
  /** Requests that wait for the response to the one before, and the bytes of their headers. */
  readonly pipelined: { readonly begin: () => void; readonly bytes: number }[]
}

/**
 * Maximum number of pipelined requests of a connection, and of bytes of their headers. Beyond either, the
 * connection accepts no further requests, and ends after it has answered the accepted ones.
 */
const [pipelinedMax, pipelinedBytesMax] = [100, 64 * 1024]
/** Time without a request after which a connection is silent. */
const silentMs = 1000

/**
 * Tracks open connections and their running requests, so that a stop neither cuts responses nor waits for
 * silent connections. A connection runs one request at a time, so pipelining gives no advantage over other
 * clients. Each running response also has the socket, without which Node does not report its end.
 */
export class OpenConnections {
  readonly #states = new Map<Duplex, ConnectionState>()
  readonly #ending = new WeakSet<Duplex>()
  #stopping = false
  #allEnded: Promise<void> | null = null
  #resolveAllEnded = (): void => undefined

  get size(): number {
    return this.#states.size
  }

  opened(connection: Duplex): void {
    const state = {
      isAnswering: false,
      answer: null,
      idleSince: performance.now(),
      latest: null,
      pipelined: [],
    }
    this.#states.set(connection, state)
    connection.once('close', () => {
      this.#states.delete(connection)
      if (this.#states.size === 0) this.#resolveAllEnded()
    })
  }

  /**
   * Answers a request when the responses before it on its connection are sent; never if the connection closes
   * first.
   */
  inTurn(connection: Duplex, response: ServerResponse, answer: () => void): void {
    const state = this.#states.get(connection)
    // Skips every further request of an ending connection: after a request without a response, Node sends no
    // later response.
    if (state === undefined || this.#ending.has(connection)) return
    state.latest = response.req
    const begin = (): void => {
      state.isAnswering = true
      state.answer = response
      if (this.#stopping) response.setHeader('Connection', 'close')
      onResponseEnd(response, () => this.#answered(connection, state))
      answer()
    }
    if (!state.isAnswering) {
      begin()
      return
    }
    const bytes = headerBytes(response.req)
    const waiting = state.pipelined.reduce((sum, request) => sum + request.bytes, bytes)
    if (state.pipelined.length < pipelinedMax && waiting <= pipelinedBytesMax)
      state.pipelined.push({ begin, bytes })
    else {
      this.#ending.add(connection)
      connection.pause()
    }
  }

  /** Returns whether the bytes being read belong to a request that already has its answer. */
  isInBody(connection: Duplex): boolean {
    return this.#states.get(connection)?.latest?.complete === false
  }

  isAwaitingBody(connection: Duplex): boolean {
    const state = this.#states.get(connection)
    return state?.isAnswering === true && state.answer?.headersSent === false && !state.answer.req.complete
  }

  isAnswering(connection: Duplex): boolean {
    return this.#states.get(connection)?.isAnswering === true
  }

  endAfterAnswers(connection: Duplex): void {
    this.#ending.add(connection)
  }

  /**
   * Ends connections that are silent, and other connections after their next response: closing earlier could
   * lose a request on its way. Resolves when no connection is left.
   */
  async endAll(): Promise<void> {
    this.#stopping = true
    for (const [connection, { isAnswering, answer }] of this.#states) {
      if (!isAnswering) this.#endWhenSilent(connection)
      else if (answer?.headersSent === false) answer.setHeader('Connection', 'close')
    }
    this.#allEnded ??= new Promise<void>((resolve) => (this.#resolveAllEnded = resolve))
    if (this.#states.size > 0) await this.#allEnded
  }

  #endWhenSilent(connection: Duplex): void {
    const state = this.#states.get(connection)
    if (state === undefined || state.isAnswering) return
    const remainingMs = state.idleSince + silentMs - performance.now()
    if (remainingMs <= 0) end(connection)
    else setTimeout(() => this.#endWhenSilent(connection), remainingMs)
  }

  destroyAll(): void {
    for (const connection of this.#states.keys()) connection.destroy()
  }

  #answered(connection: Duplex, state: ConnectionState): void {
    state.isAnswering = false
    state.idleSince = performance.now()
    if (connection.destroyed) return
    const next = state.pipelined.shift()
    if (next !== undefined) next.begin()
    else if (this.#ending.has(connection)) end(connection)
    else if (this.#stopping) {
      // The client may be sending the next request, unless the response says close.
      if (state.answer?.getHeader('Connection') === 'close') end(connection)
      else this.#endWhenSilent(connection)
    }
  }
}

function headerBytes({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length)
}

/** Sends written bytes, then closes without waiting for the other side. */
function end(connection: Duplex): void {
  connection.end(() => connection.destroy())
}
