import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import type { WatchdogData } from './watchdog.ts'

const { beats, stuckSeconds } = workerData as WatchdogData
const counter = new Int32Array(beats)
let [lastCount, missed] = [-1, 0]

setInterval(() => {
  const now = Atomics.load(counter, 0)
  missed = now === lastCount ? missed + 1 : 0
  lastCount = now
  if (missed < stuckSeconds) return
  const msg = `the event loop was stuck for ${stuckSeconds} s: exiting, to be restarted`
  // Write without the logger, which runs in the stuck thread.
  writeSync(1, `${JSON.stringify({ level: 60, time: new Date().toISOString(), pid: process.pid, msg })}\n`)
  process.kill(process.pid, 'SIGKILL')
}, 1000)
