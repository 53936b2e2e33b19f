import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Which connections are open and still answering, so that a stop neither cuts answers nor waits for the silent. */
export class OpenConnections {
  /** Connection -> answers that are not wholly sent. */
  readonly #answers = new Map<Duplex, number>()
  readonly #ending = new WeakSet<Duplex>()
  #stopping = false

  opened(connection: Duplex): void {
    this.#answers.set(connection, 0)
    connection.once('close', () => this.#answers.delete(connection))
  }

  answering(connection: Duplex, response: ServerResponse): void {
    this.#answers.set(connection, (this.#answers.get(connection) ?? 0) + 1)
    if (this.#stopping) response.setHeader('Connection', 'close')
    response.once('close', () => {
      const left = (this.#answers.get(connection) ?? 1) - 1
      if (this.#answers.has(connection)) this.#answers.set(connection, left)
      if (left === 0 && (this.#stopping || this.#ending.has(connection))) end(connection)
    })
  }

  isAnswering(connection: Duplex): boolean {
    return (this.#answers.get(connection) ?? 0) > 0
  }

  endAfterAnswers(connection: Duplex): void {
    this.#ending.add(connection)
  }

  /** Ends those without an answer now, the others when theirs is sent. */
  endAll(): void {
    this.#stopping = true
    for (const [connection, answers] of this.#answers) if (answers === 0) end(connection)
  }

  destroyAll(): void {
    for (const connection of this.#answers.keys()) connection.destroy()
  }
}

/** Sends what is written, then closes without waiting for the other side. */
function end(connection: Duplex): void {
  connection.end(() => connection.destroy())
}
