import inspector from 'node:inspector'
import { Worker } from 'node:worker_threads'
import type { Log } from '../base/log.ts'

const stuckSeconds = 10

export interface WatchdogData {
  /** The event loop increments it once a second. */
  readonly beats: SharedArrayBuffer
  readonly stuckSeconds: number
}

/**
 * Kills this process, after a log line, if its event loop is stuck; the supervisor or primary starts another.
 * A watching thread counts its ticks since the last beat, so that a suspended process does not look stuck.
 * Does nothing under a debugger.
 */
export function startWatchdog(log: Pick<Log, 'warn'>, seconds = stuckSeconds): void {
  if (inspector.url() !== undefined) return
  const beats = new SharedArrayBuffer(4)
  const counter = new Int32Array(beats)
  setInterval(() => Atomics.add(counter, 0, 1), 1000).unref()
  const watched: WatchdogData = { beats, stuckSeconds: seconds }
  const notWatched = (error: unknown): void => log.warn({ err: error }, 'event loop is not watched')
  try {
    const thread = new Worker(new URL('watchdog-thread.js', import.meta.url), {
      workerData: watched,
      // Options of the main program, such as preloaded modules, are not for this thread.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
    })
    thread.on('error', notWatched).unref()
  } catch (error) {
    // Node's permissions may forbid threads.
    notWatched(error)
  }
}
