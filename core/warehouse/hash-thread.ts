import { parentPort, workerData } from 'node:worker_threads'
import { hashInline, sumsInline } from './hash-inline.ts'

/** Thread of `hash.ts`: hashes one file. */

const { file, both } = workerData as { readonly file: string; readonly both: boolean }
parentPort?.postMessage(await (both ? sumsInline(file) : hashInline(file)), [])
