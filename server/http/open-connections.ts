import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { whenOver } from './send.ts'

interface ConnectionState {
  isAnswering: boolean
  /** The last that was begun. */
  answer: ServerResponse | null
  /** Since when there was no request, in ms. */
  idleSince: number
  /** The last that came, answered or not. */
  latest: IncomingMessage | null
  /** Requests that wait for the answer to the one before, and the bytes of their headers. */
  readonly pipelined: { readonly begin: () => void; readonly bytes: number }[]
}

/** Pipelined requests of one connection, and bytes of their headers. Past either it takes no more, and ends after them. */
const [pipelinedMax, pipelinedBytesMax] = [100, 64 * 1024]
/** A connection without a request for so long is silent. */
const silentMs = 1000

/**
 * Which connections are open and still answering, so that a stop neither cuts answers nor waits for the silent. A
 * connection has one request in work at a time: a reader who sends many in a row gains nothing over others, and
 * all that hangs on the end of an answer holds, since Node tells it only of the one that has the socket.
 */
export class OpenConnections {
  readonly #states = new Map<Duplex, ConnectionState>()
  readonly #ending = new WeakSet<Duplex>()
  #stopping = false
  #allEnded: Promise<void> | null = null
  #tellAllEnded = (): void => undefined

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
      if (this.#states.size === 0) this.#tellAllEnded()
    })
  }

  /** Begins to answer when it is the turn of this response on its connection, and not at all when that is closed. */
  inTurn(connection: Duplex, response: ServerResponse, answer: () => void): void {
    const state = this.#states.get(connection)
    // Behind one that was left out, none would ever get the connection.
    if (state === undefined || this.#ending.has(connection)) return
    state.latest = response.req
    const begin = (): void => {
      state.isAnswering = true
      state.answer = response
      if (this.#stopping) response.setHeader('Connection', 'close')
      whenOver(response, () => this.#answered(connection, state))
      answer()
    }
    if (!state.isAnswering) {
      begin()
      return
    }
    const bytes = headerBytes(response.req)
    const waiting = state.pipelined.reduce((sum, one) => sum + one.bytes, bytes)
    if (state.pipelined.length < pipelinedMax && waiting <= pipelinedBytesMax)
      state.pipelined.push({ begin, bytes })
    else {
      this.#ending.add(connection)
      connection.pause()
    }
  }

  /** Whether what is read now belongs to a request that was begun to be answered already. */
  isInBody(connection: Duplex): boolean {
    return this.#states.get(connection)?.latest?.complete === false
  }

  /** Whether a request has no answer yet because its body has not arrived. */
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
   * Ends the silent ones, and the others with the answer to their next request: one that is closed while a request is on
   * its way loses it, so whoever has just asked is given time to ask again. Resolves when none is left.
   */
  async endAll(): Promise<void> {
    this.#stopping = true
    for (const [connection, { isAnswering, answer }] of this.#states) {
      if (!isAnswering) this.#endWhenSilent(connection)
      else if (answer?.headersSent === false) answer.setHeader('Connection', 'close')
    }
    this.#allEnded ??= new Promise<void>((resolve) => (this.#tellAllEnded = resolve))
    if (this.#states.size > 0) await this.#allEnded
  }

  #endWhenSilent(connection: Duplex): void {
    const state = this.#states.get(connection)
    if (state === undefined || state.isAnswering) return
    const left = state.idleSince + silentMs - performance.now()
    if (left <= 0) end(connection)
    else setTimeout(() => this.#endWhenSilent(connection), left)
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
      // Its reader may be asking again already, unless he was told.
      if (state.answer?.getHeader('Connection') === 'close') end(connection)
      else this.#endWhenSilent(connection)
    }
  }
}

function headerBytes({ rawHeaders, url = '' }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length)
}

/** Sends what is written, then closes without waiting for the other side. */
function end(connection: Duplex): void {
  connection.end(() => connection.destroy())
}
