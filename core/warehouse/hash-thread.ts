import { parentPort } from 'node:worker_threads'
import { hashInline, sumsInline } from './hash-inline.ts'

/** Answers each message with the hash or sums of a file, or null if it is unreadable. */

parentPort?.on('message', ({ file, both }: { readonly file: string; readonly both: boolean }) => {
  const hashed: Promise<unknown> = both ? sumsInline(file) : hashInline(file)
  void hashed.catch(() => null).then((result) => parentPort?.postMessage(result, []))
})
