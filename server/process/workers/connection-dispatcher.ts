import type { Worker } from 'node:cluster'
import { createServer, type Server, type Socket } from 'node:net'
import { bind } from '../../http/listen.ts'
import type { ToWorker } from './messages.ts'

const waitingMax = 10_000

/**
 * Passes connections to workers in turn. The scheduler of node:cluster loses connections of a dying worker,
 * and refuses connections if no worker runs. Here, they go to another worker, or wait.
 */
export class ConnectionDispatcher {
  readonly #server: Server
  /** The next worker comes first. */
  #workers: Worker[] = []
  readonly #transfers = new Map<number, { readonly socket: Socket; readonly worker: Worker }>()
  #waiting: Socket[] = []
  #lastTransferId = 0

  constructor() {
    // Do not read here: only the worker reads from the connection.
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      socket.on('error', () => undefined)
      this.#dispatch(socket)
    })
  }

  /** @throws StartError if the port is taken or the host is not local */
  async listen(port: number, host: string): Promise<void> {
    await bind(this.#server, port, host)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  add(worker: Worker): void {
    this.#workers.push(worker)
    for (const socket of this.#waiting.splice(0)) this.#dispatch(socket)
  }

  /** Connections that a dead worker has not accepted go to others. */
  remove(worker: Worker): void {
    this.#workers = this.#workers.filter((item) => item !== worker)
    if (!worker.isDead()) return
    for (const [id, { socket, worker: holder }] of this.#transfers) {
      if (holder !== worker) continue
      this.#transfers.delete(id)
      this.#dispatch(socket)
    }
  }

  confirm(id: number): void {
    // Closes the descriptor of this process, not the connection.
    this.#transfers.get(id)?.socket.destroy()
    this.#transfers.delete(id)
  }

  #dispatch(socket: Socket): void {
    const worker = this.#workers.shift()
    if (worker === undefined) {
      if (this.#waiting.length < waitingMax) this.#waiting.push(socket)
      else socket.destroy()
      return
    }
    this.#workers.push(worker)
    this.#lastTransferId += 1
    const id = this.#lastTransferId
    this.#transfers.set(id, { socket, worker })
    const message: ToWorker = { connection: id }
    // Ignore errors: the worker is ending, and its exit passes the connection to another one.
    worker.process.send(message, socket, { keepOpen: true }, () => undefined)
  }
}
