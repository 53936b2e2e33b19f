import { stat } from 'node:fs/promises'
import os from 'node:os'
import type { Tinypool } from 'tinypool'
import { hashOf as hashHere, sumsOf as sumsHere, type Sums } from './hash-here.ts'

export { chunksOf, hashBytes, type Sums } from './hash-here.ts'

/** Smaller files are read sooner than a thread begins. */
const threadBytesMin = 8_000_000
const threadsMax = 2
/** Then a thread ends. */
const idleMs = 500

/** SHA-256 of a file of this machine. */
export async function hashOf(file: string): Promise<string> {
  return aside('hashOf', file, hashHere)
}

/** Bytes and sums of a file of this machine, in one reading. */
export async function sumsOf(file: string): Promise<Sums> {
  return aside('sumsOf', file, sumsHere)
}

/** In a thread of its own, so that the thread of everything else is free, where that is worth it. */
async function aside<T>(
  name: 'hashOf' | 'sumsOf',
  file: string,
  here: (file: string) => Promise<T>,
): Promise<T> {
  // Run from its source, as in tests, it has no program for threads.
  if (!import.meta.url.endsWith('.js') || (await stat(file)).size < threadBytesMin) return here(file)
  try {
    const { threads, failure } = await (opening ??= openThreads())
    return await Promise.race([threads.run(file, { name }) as Promise<T>, failure])
  } catch {
    // What is wrong with the file shows again; a thread may be what there is none of.
    return here(file)
  }
}

interface Threads {
  readonly threads: Tinypool
  /** Never kept: rejected where a thread does not begin. */
  readonly failure: Promise<never>
}

/** Rejected for good where no thread began. */
let opening: Promise<Threads> | undefined

async function openThreads(): Promise<Threads> {
  // Most programs never need it.
  const { Tinypool: Pool } = await import('tinypool')
  const threads = new Pool({
    filename: new URL('./hash-here.js', import.meta.url).href,
    // What a program is run with says nothing of its threads.
    execArgv: [],
    minThreads: 0,
    maxThreads: Math.min(threadsMax, os.availableParallelism()),
    idleTimeout: idleMs,
  })
  const failure = new Promise<never>((_resolve, reject) => {
    threads.on('error', (error: Error) => {
      reject(error)
      opening = failure
      // What waits for a thread is hashed here by now.
      threads.cancelPendingTasks()
    })
  })
  failure.catch(() => undefined)
  return { threads, failure }
}
