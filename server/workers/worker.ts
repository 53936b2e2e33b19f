import cluster from 'node:cluster'
import { Socket } from 'node:net'
import { CountsChannel } from '../limits/channel.ts'
import type { Policy } from '../limits/policies.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** How a worker is bound to the process that keeps it. */
export interface Worker {
  readonly id: number
  /** When the service started, which is when the first of the workers did. */
  readonly startedAt: Date
  /** Whether others serve while it starts, so that it takes no reader before it can answer. */
  readonly isRelieving: boolean
  /** Where asks are counted for all workers together, by these policies. */
  readonly countsBy: (policies: readonly Policy[]) => CountsChannel
  /** Connections come from the process that keeps it. */
  readonly receive: (take: (socket: Socket) => void) => void
  readonly serving: () => void
  /** What it does when it is told to end. */
  readonly onStop: (stop: () => Promise<void>) => void
}

/** Of the environment of a worker. */
export const startedAtVariable = 'ACERVO_STARTED_AT'
export const relievingVariable = 'ACERVO_RELIEVING'

/** Null where this process serves alone. */
export function thisWorker(): Worker | null {
  const { worker } = cluster
  if (worker === undefined) return null
  // When the channel is gone, the process ends.
  const send = (message: FromWorker): void => void worker.send(message, () => undefined)
  const counts = new CountsChannel(send)
  let take: ((socket: Socket) => void) | null = null
  let stop: (() => Promise<void>) | null = null
  worker.on('message', (message: ToWorker, handle?: unknown) => {
    if ('counted' in message) counts.take(message)
    else if ('connection' in message) {
      // A reader who has gone meanwhile leaves none.
      if (handle instanceof Socket) take?.(handle)
      send({ took: message.connection })
    } else if ('tell' in message) void (stop?.() ?? Promise.resolve()).finally(() => worker.disconnect())
  })
  // A terminal and systemd tell all processes; the one that keeps the workers decides what that means for each.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  return {
    id: worker.id,
    startedAt: new Date(Number(process.env[startedAtVariable])),
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
  }
}
