import cluster from 'node:cluster'
import { Socket } from 'node:net'
import { CountsChannel } from '../../limits/channel.ts'
import type { Policy } from '../../limits/policies.ts'
import type { AggregatedMetrics } from '../metrics/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Connection of a worker to its primary. */
export interface Worker {
  readonly id: number
  /** True if other workers serve while it starts, so that it accepts no request before it can answer. */
  readonly isRelieving: boolean
  /** Returns the counts of all workers, by these policies. */
  readonly countsBy: (policies: readonly Policy[]) => CountsChannel
  /** Receives connections from the primary. */
  readonly receive: (take: (socket: Socket) => void) => void
  readonly serving: () => void
  /** Sets the handler of a stop within some ms; a second stop may shorten the time. */
  readonly onStop: (stop: (withinMs: number) => Promise<void>) => void
  /** Sets the source of its metrics. */
  readonly measure: (metrics: () => Promise<AggregatedMetrics>) => void
}

/** Environment variable of a worker. */
export const relievingVariable = 'ACERVO_RELIEVING'

/** Returns null in a process without a primary. */
export function thisWorker(): Worker | null {
  const { worker } = cluster
  if (worker === undefined) return null
  // If the channel is closed, this process is about to end.
  const send = (message: FromWorker): void => void worker.send(message, () => undefined)
  const counts = new CountsChannel(send)
  let take: ((socket: Socket) => void) | null = null
  let stop: ((withinMs: number) => Promise<void>) | null = null
  let measure: (() => Promise<AggregatedMetrics>) | null = null
  worker.on('message', (message: ToWorker, handle?: unknown) => {
    if ('counted' in message) counts.take(message)
    else if ('connection' in message) {
      // The client may have disconnected.
      if (handle instanceof Socket) take?.(handle)
      send({ took: message.connection })
    } else if ('stopWithinMs' in message) void stop?.(message.stopWithinMs).finally(() => worker.disconnect())
    else if ('measureAs' in message)
      void measure?.().then((metrics) => send({ measuredAs: message.measureAs, metrics }))
  })
  // Terminals and systemd signal all processes; the primary decides for the workers.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  return {
    id: worker.id,
    isRelieving: process.env[relievingVariable] === 'yes',
    countsBy: (policies) => {
      send({ policies })
      return counts
    },
    serving: () => send({ told: 'serving' }),
    receive: (taking) => {
      take = taking
    },
    onStop: (stopping) => {
      stop = stopping
    },
    measure: (measuring) => {
      measure = measuring
    },
  }
}
