import { parentPort } from 'node:worker_threads'
import { hashInline, sumsInline } from './hash-inline.ts'

/** Answers each file with its hash or sums, or null if it cannot be read. */

parentPort?.on('message', ({ file, both }: { readonly file: string; readonly both: boolean }) => {
  const hashed: Promise<unknown> = both ? sumsInline(file) : hashInline(file)
  void hashed.catch(() => null).then((result) => parentPort?.postMessage(result, []))
})
