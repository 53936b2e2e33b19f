import cluster from 'node:cluster'
import { Socket } from 'node:net'
import { CountsChannel } from '../../limits/channel.ts'
import type { Policy } from '../../limits/policies.ts'
import type { Measured } from '../metrics/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** How a worker is bound to the process that keeps it. */
export interface Worker {
  readonly id: number
  /** Whether others serve while it starts, so that it takes no reader before it can answer. */
  readonly isRelieving: boolean
  /** Where requests are counted for all workers together, by these policies. */
  readonly countsBy: (policies: readonly Policy[]) => CountsChannel
  /** Connections come from the process that keeps it. */
  readonly receive: (take: (socket: Socket) => void) => void
  readonly serving: () => void
  /** What it does when it is told to end within so many ms; when it is told again, it is to be sooner. */
  readonly onStop: (stop: (withinMs: number) => Promise<void>) => void
  /** Answers with its metrics from now on. */
  readonly measure: (metrics: () => Promise<Measured>) => void
}

/** Of the environment of a worker. */
export const relievingVariable = 'ACERVO_RELIEVING'

/** Null where this process serves alone. */
export function thisWorker(): Worker | null {
  const { worker } = cluster
  if (worker === undefined) return null
  // When the channel is gone, the process ends.
  const send = (message: FromWorker): void => void worker.send(message, () => undefined)
  const counts = new CountsChannel(send)
  let take: ((socket: Socket) => void) | null = null
  let stop: ((withinMs: number) => Promise<void>) | null = null
  let measure: (() => Promise<Measured>) | null = null
  worker.on('message', (message: ToWorker, handle?: unknown) => {
    if ('counted' in message) counts.take(message)
    else if ('connection' in message) {
      // A reader who has gone meanwhile leaves none.
      if (handle instanceof Socket) take?.(handle)
      send({ took: message.connection })
    } else if ('stopWithinMs' in message) void stop?.(message.stopWithinMs).finally(() => worker.disconnect())
    else if ('measureAs' in message)
      void measure?.().then((metrics) => send({ measuredAs: message.measureAs, metrics }))
  })
  // A terminal and systemd tell all processes; the one that keeps the workers decides what that means for each.
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
