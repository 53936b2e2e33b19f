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
  const threads = await threadsFor(file)
  return threads === null ? hashHere(file) : ((await threads.run(file, { name: 'hashOf' })) as string)
}

/** Bytes and sums of a file of this machine, in one reading. */
export async function sumsOf(file: string): Promise<Sums> {
  const threads = await threadsFor(file)
  return threads === null ? sumsHere(file) : ((await threads.run(file, { name: 'sumsOf' })) as Sums)
}

/** What hashes aside, so that the thread of everything else is free; null where that is not worth it, or where this runs from its source. */
async function threadsFor(file: string): Promise<Tinypool | null> {
  if (!import.meta.url.endsWith('.js') || (await stat(file)).size < threadBytesMin) return null
  return (opening ??= openThreads())
}

let opening: Promise<Tinypool> | undefined

async function openThreads(): Promise<Tinypool> {
  // Most programs never need it.
  const { Tinypool: Threads } = await import('tinypool')
  return new Threads({
    filename: new URL('./hash-here.js', import.meta.url).href,
    // What a program is run with says nothing of its threads.
    execArgv: [],
    minThreads: 0,
    maxThreads: Math.min(threadsMax, os.availableParallelism()),
    idleTimeout: idleMs,
  })
}
