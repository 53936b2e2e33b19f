import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { hashInline, sumsInline, type Sums } from './hash-inline.ts'

export { chunksOf, hashBytes, type Sums } from './hash-inline.ts'

/** Smaller files are read faster than a thread starts. */
const threadBytesMin = 8_000_000
const threadsMax = 2
const idleMs = 500

export async function hashOf(file: string): Promise<string> {
  return hashInThread(file, false, hashInline)
}

/** Returns the size and sums of a local file, reading it once. */
export async function sumsOf(file: string): Promise<Sums> {
  return hashInThread(file, true, sumsInline)
}

async function hashInThread<T>(
  file: string,
  hasMd5: boolean,
  runInline: (file: string) => Promise<T>,
): Promise<T> {
  if ((await stat(file)).size < threadBytesMin) return runInline(file)
  turn = (turn + 1) % threads.length
  const result = await threads[turn]?.run<T>({ file, both: hasMd5 }).catch(() => null)
  // A thread may fail to start; if the file is at fault, the error occurs again here.
  return result ?? runInline(file)
}

interface HashedFile {
  readonly file: string
  readonly both: boolean
}

class HashThread {
  #worker: Worker | null = null
  #endController = new AbortController()
  #last: Promise<unknown> = Promise.resolve()
  #idleTimer: NodeJS.Timeout | undefined

  run<T>(file: HashedFile): Promise<T | null> {
    const result = this.#last.then(() => this.#send<T>(file))
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Sends a file to the worker, which starts if needed and keeps the process alive only while it works. */
  async #send<T>(file: HashedFile): Promise<T | null> {
    clearTimeout(this.#idleTimer)
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    try {
      worker.postMessage(file, [])
      const [answer] = (await once(worker, 'message', { signal: this.#endController.signal })) as [T | null]
      return answer
    } catch (error) {
      // A late answer would be taken for that of the next file.
      this.#worker = null
      await worker.terminate()
      throw error
    } finally {
      worker.unref()
      this.#idleTimer = setTimeout(() => void worker.terminate(), idleMs).unref()
    }
  }

  #start(): Worker {
    // Threads need none of the program's Node options, such as `--enable-source-maps`.
    const worker = new Worker(new URL('./hash-thread.js', import.meta.url), { execArgv: [] })
    const controller = new AbortController()
    this.#endController = controller
    worker.once('exit', () => {
      controller.abort()
      if (this.#worker === worker) this.#worker = null
    })
    return worker
  }
}

const threads = Array.from(
  { length: Math.min(threadsMax, os.availableParallelism()) },
  () => new HashThread(),
)
let turn = 0
