import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { onResponseEnd } from './send.ts'

interface ConnectionState {
  isAnswering: boolean
  answer: ServerResponse | null
  idleSince: number
  /** Latest request, answered or not. */
  latest: IncomingMessage | null
  /** Requests that wait for the previous response, and the bytes of their headers. */
  readonly pipelined: { readonly begin: () => void; readonly bytes: number }[]
}

/** A connection beyond either limit accepts no further requests, and ends after its answers. */
const [pipelinedMax, pipelinedBytesMax] = [100, 64 * 1024]
const silentMs = 1000

/**
 * Tracks connections and their requests, so that a stop neither cuts responses nor waits for silent clients.
 * A connection runs one request at a time, so pipelining gives no advantage. Each response then has the
 * socket, without which Node does not report its end.
 */
export class OpenConnections {
  readonly #states = new Map<Duplex, ConnectionState>()
  readonly #endingConnections = new WeakSet<Duplex>()
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

  /** Answers after the earlier responses on the connection; never answers if the connection closes first. */
  inTurn(connection: Duplex, response: ServerResponse, sendResponse: () => void): void {
    const state = this.#states.get(connection)
    // Once a request gets no response, Node sends no later responses on its connection.
    if (state === undefined || this.#endingConnections.has(connection)) return
    state.latest = response.req
    const begin = (): void => {
      state.isAnswering = true
      state.answer = response
      if (this.#stopping) response.setHeader('Connection', 'close')
      onResponseEnd(response, () => this.#answered(connection, state))
      sendResponse()
    }
    if (!state.isAnswering) {
      begin()
      return
    }
    const bytes = headerBytes(response.req)
    const waitingBytes = state.pipelined.reduce((sum, request) => sum + request.bytes, bytes)
    if (state.pipelined.length < pipelinedMax && waitingBytes <= pipelinedBytesMax)
      state.pipelined.push({ begin, bytes })
    else {
      // Too many requests wait: the connection ends after those already accepted.
      this.#endingConnections.add(connection)
      connection.pause()
    }
  }

  /** The bytes being read belong to a request that is already answered. */
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
    this.#endingConnections.add(connection)
  }

  /**
   * Ends connections that are silent, others after their next response: an earlier end could lose a request
   * on its way. Resolves when none is left.
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
    else if (this.#endingConnections.has(connection)) end(connection)
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

function end(connection: Duplex): void {
  connection.end(() => connection.destroy())
}
