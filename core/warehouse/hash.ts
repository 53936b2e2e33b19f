import { stat } from 'node:fs/promises'
import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { hashInline, sumsInline, type Sums } from './hash-inline.ts'

export { chunksOf, hashBytes, type Sums } from './hash-inline.ts'

/** Smaller files are read faster than a thread starts. */
const threadBytesMin = 8_000_000
const threadsMax = 2

export async function hashOf(file: string): Promise<string> {
  return hashInThread(file, false, hashInline)
}

/** Returns the size and sums of a local file, reading it once. */
export async function sumsOf(file: string): Promise<Sums> {
  return hashInThread(file, true, sumsInline)
}

/** Last file of each thread; the next one waits for it. */
const queues: Promise<unknown>[] = Array.from(
  { length: Math.min(threadsMax, os.availableParallelism()) },
  () => Promise.resolve(),
)
let next = 0

/** Hashes in a thread of its own if that is worthwhile, so that the main thread stays free. */
async function hashInThread<T>(
  file: string,
  both: boolean,
  runInline: (file: string) => Promise<T>,
): Promise<T> {
  // Tests run the TypeScript sources, without the compiled module that a thread would load.
  if (!import.meta.url.endsWith('.js') || (await stat(file)).size < threadBytesMin) return runInline(file)
  next = (next + 1) % queues.length
  const result = (queues[next] ?? Promise.resolve()).then(() => resultOfThread<T>({ file, both }))
  // A thread may fail to start; if the file is at fault, the error occurs again here.
  const settled = result.catch(() => runInline(file))
  queues[next] = settled.catch(() => undefined)
  return settled
}

function resultOfThread<T>(workerData: { file: string; both: boolean }): Promise<T> {
  return new Promise((resolve, reject) => {
    // Threads need none of the program's Node options, such as `--enable-source-maps`.
    const thread = new Worker(new URL('./hash-thread.js', import.meta.url), { workerData, execArgv: [] })
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => {
      reject(new Error('a thread that hashes a file ended without its result'))
    })
  })
}
