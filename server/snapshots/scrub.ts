import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import type { Snapshots } from './snapshots.ts'
import type { ReadProgress } from './open.ts'

/** Leaves nine tenths of a slow disk's bandwidth to requests. */
const bytesPerSecondMax = 20_000_000
const chunkBytes = 1024 * 1024
const logEveryMs = 60_000

/** Rereads served files slowly, since disks lose bits silently; withdraws damaged snapshots. */
export class Scrub {
  readonly #snapshots: Snapshots
  readonly #log: Log
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined

  constructor(snapshots: Snapshots, log: Log) {
    this.#snapshots = snapshots
    this.#log = log
  }

  /** @param everyMs 0 for never */
  begin(everyMs: number): void {
    if (everyMs === 0 || this.#stop.signal.aborted) return
    const scheduleNext = (): void => {
      void this.once()
        .catch((error: unknown) => {
          // Stopping a scrub makes it fail, which is no error.
          if (!this.#stop.signal.aborted)
            this.#log.error({ err: error }, 'the periodic check of all files failed')
        })
        .finally(() => this.begin(everyMs))
    }
    this.#timer = setTimeout(scheduleNext, everyMs).unref()
  }

  /** @param everyMs interval of progress in the log */
  async once(everyMs = logEveryMs): Promise<void> {
    const began = performance.now()
    const progress: ReadProgress = { bytes: 0, of: await this.#snapshots.bytes() }
    const telling = setInterval(() => this.#log.info(progress, 'checking files'), everyMs)
    try {
      await this.#snapshots.scrub((file) => slowHash(file, progress, this.#stop.signal))
    } finally {
      clearInterval(telling)
    }
    this.#log.info({ seconds: Math.round((performance.now() - began) / 1000) }, 'files checked')
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#stop.abort()
  }
}

/** Reads no faster than `bytesPerSecondMax`. */
async function slowHash(file: string, progress: ReadProgress, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: chunkBytes })) {
    hash.update(chunk as Buffer)
    progress.bytes += (chunk as Buffer).length
    const pauseMs = (1000 * (chunk as Buffer).length) / bytesPerSecondMax
    await wait(pauseMs, undefined, { signal, ref: false })
  }
  return hash.digest('hex')
}
