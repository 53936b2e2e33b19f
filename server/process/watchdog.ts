import inspector from 'node:inspector'
import { Worker } from 'node:worker_threads'
import type { Log } from '../base/log.ts'

/** Longest time without a turn of the event loop, in seconds: no request may block it for long. */
const stuckSeconds = 10

/** What the watching thread is given. */
export interface Watched {
  /** Counts the turns of the event loop, once a second. */
  readonly beats: SharedArrayBuffer
  readonly stuckSeconds: number
}

/**
 * Kills this process when its event loop has been stuck for too long, after a log line, so that the supervisor or the
 * primary process starts another. The watching thread counts seconds without a beat instead of comparing clocks: a process
 * that was suspended is not taken for a stuck one. Does nothing under a debugger.
 */
export function startWatchdog(log: Pick<Log, 'warn'>, seconds = stuckSeconds): void {
  if (inspector.url() !== undefined) return
  const beats = new SharedArrayBuffer(4)
  const counter = new Int32Array(beats)
  setInterval(() => Atomics.add(counter, 0, 1), 1000).unref()
  const watched: Watched = { beats, stuckSeconds: seconds }
  const notWatched = (error: unknown): void => log.warn({ err: error }, 'the event loop is not watched')
  try {
    const thread = new Worker(new URL('watchdog-thread.js', import.meta.url), {
      workerData: watched,
      // Options of the main program, such as modules to load first, are not for this thread.
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
