import { stat } from 'node:fs/promises'
import os from 'node:os'
import type { Tinypool } from 'tinypool'
import { hashInline, sumsInline, type Sums } from './hash-inline.ts'

export { chunksOf, hashBytes, type Sums } from './hash-inline.ts'

/** Smaller files are read faster than a thread starts. */
const threadBytesMin = 8_000_000
const threadsMax = 2
/** Time until an idle thread ends. */
const idleMs = 500

export async function hashOf(file: string): Promise<string> {
  return hashInThread('hashInline', file, hashInline)
}

/** Returns the size and sums of a local file, reading it once. */
export async function sumsOf(file: string): Promise<Sums> {
  return hashInThread('sumsInline', file, sumsInline)
}

/** Hashes in a thread of its own if that is worthwhile, so that the main thread stays free. */
async function hashInThread<T>(
  name: 'hashInline' | 'sumsInline',
  file: string,
  runInline: (file: string) => Promise<T>,
): Promise<T> {
  // Tests run the TypeScript sources, without the compiled module that a thread would load.
  if (!import.meta.url.endsWith('.js') || (await stat(file)).size < threadBytesMin) return runInline(file)
  try {
    const { threads, failure } = await (opening ??= openThreads())
    return await Promise.race([threads.run(file, { name }) as Promise<T>, failure])
  } catch {
    // The thread may have failed to start; if the file is at fault, the error occurs again here.
    return runInline(file)
  }
}

interface Threads {
  readonly threads: Tinypool
  /** Rejects when a thread fails to start. */
  readonly failure: Promise<never>
}

/** Thread pool; stays rejected after a failed start, so that later files are hashed without threads. */
let opening: Promise<Threads> | undefined

async function openThreads(): Promise<Threads> {
  // Imports on demand, since most programs hash no large file.
  const { Tinypool: Pool } = await import('tinypool')
  const threads = new Pool({
    filename: new URL('./hash-inline.js', import.meta.url).href,
    // Threads need none of the program's Node options, such as `--enable-source-maps`.
    execArgv: [],
    minThreads: 0,
    maxThreads: Math.min(threadsMax, os.availableParallelism()),
    idleTimeout: idleMs,
  })
  const failure = new Promise<never>((_resolve, reject) => {
    threads.on('error', (error: Error) => {
      reject(error)
      opening = failure
      // Callers wait for `failure` too, so they hash the pending files themselves.
      threads.cancelPendingTasks()
    })
  })
  failure.catch(() => undefined)
  return { threads, failure }
}
