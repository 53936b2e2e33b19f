import type { Worker } from 'node:cluster'
import { createServer, type Server, type Socket } from 'node:net'
import { bind } from '../../http/listen.ts'
import type { ToWorker } from './messages.ts'

/** Connections that wait where no worker is there to take them; more are closed. */
const waitingMax = 10_000

/**
 * Takes connections for the workers and hands them on in turn. The scheduler of node:cluster would lose those that a worker had
 * been given but not taken when it died, and refuse all while no worker is there; here they go to another, or wait.
 */
export class Reception {
  readonly #server: Server
  /** Those that take connections, the next one first. */
  #workers: Worker[] = []
  readonly #handed = new Map<number, { readonly socket: Socket; readonly worker: Worker }>()
  #waiting: Socket[] = []
  #last = 0

  constructor() {
    // What comes in is for the worker to read.
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      socket.on('error', () => undefined)
      this.#hand(socket)
    })
  }

  /** @throws StartError where the port is taken or the host is not ours, with a sentence */
  async listen(port: number, host: string): Promise<void> {
    await bind(this.#server, port, host)
  }

  /** Takes no new connection; none is waiting then. */
  close(): void {
    this.#server.close()
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  add(worker: Worker): void {
    this.#workers.push(worker)
    for (const socket of this.#waiting.splice(0)) this.#hand(socket)
  }

  /** It gets no more; what it had been given and not taken goes to others, where it is gone. */
  remove(worker: Worker): void {
    this.#workers = this.#workers.filter((other) => other !== worker)
    if (!worker.isDead()) return
    for (const [id, { socket, worker: holder }] of this.#handed) {
      if (holder !== worker) continue
      this.#handed.delete(id)
      this.#hand(socket)
    }
  }

  /** Told by a worker that a connection is its own now. */
  taken(id: number): void {
    // This closes the descriptor here, and not the connection.
    this.#handed.get(id)?.socket.destroy()
    this.#handed.delete(id)
  }

  #hand(socket: Socket): void {
    const worker = this.#workers.shift()
    if (worker === undefined) {
      if (this.#waiting.length < waitingMax) this.#waiting.push(socket)
      else socket.destroy()
      return
    }
    this.#workers.push(worker)
    this.#last += 1
    const id = this.#last
    this.#handed.set(id, { socket, worker })
    const message: ToWorker = { connection: id }
    // Where it cannot be sent, the worker is about to be known as dead.
    worker.process.send(message, socket, { keepOpen: true }, () => undefined)
  }
}
