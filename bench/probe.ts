import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/**
 * This file, loaded before a server (`node --import`), reports over IPC what the process used since the last
 * message.
 */
export interface Usage {
  readonly cpuMs: number
  readonly loopBusyMs: number
  /** The longest that the event loop kept a timer waiting. */
  readonly loopDelayMaxMs: number
  readonly rssBytes: number
  readonly rssMaxBytes: number
}

const delay = monitorEventLoopDelay({ resolution: 10 })
let cpu = process.cpuUsage()
let loop = performance.eventLoopUtilization()
let rssMaxBytes = 0
setInterval(() => (rssMaxBytes = Math.max(rssMaxBytes, process.memoryUsage.rss())), 100).unref()

process.on('message', (message) => {
  if (message !== 'usage') return
  const { user, system } = process.cpuUsage(cpu)
  const rssBytes = process.memoryUsage.rss()
  rssMaxBytes = Math.max(rssMaxBytes, rssBytes)
  const usage: Usage = {
    cpuMs: (user + system) / 1000,
    loopBusyMs: performance.eventLoopUtilization(loop).active,
    loopDelayMaxMs: delay.max / 1e6,
    rssBytes,
    rssMaxBytes,
  }
  process.send?.(usage)
  cpu = process.cpuUsage()
  loop = performance.eventLoopUtilization()
  delay.reset()
  delay.enable()
})
// The channel alone must not keep the server from ending.
process.channel?.unref()
