import cluster from 'node:cluster'
import { Socket } from 'node:net'
import { CountsChannel } from '../../limits/channel.ts'
import type { Policy } from '../../limits/policies.ts'
import type { AggregatedMetrics } from '../metrics/metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'

export interface Worker {
  readonly id: number
  /** Other workers serve meanwhile, so a replacement accepts connections only once it can answer. */
  readonly isReplacement: boolean
  readonly registerPolicies: (policies: readonly Policy[]) => CountsChannel
  readonly receive: (accept: (socket: Socket) => void) => void
  readonly serving: () => void
  /** Reason why the primary could not replace this worker, or null. */
  readonly notReplaced: () => string | null
  /** Stops this worker within some ms; a second call may shorten the time. */
  readonly onStop: (stop: (withinMs: number) => Promise<void>) => void
  readonly measure: (metrics: () => Promise<AggregatedMetrics>) => void
}

export const replacementVariable = 'ACERVO_RELIEVING'

/**
 * Connects this process to its primary: answers its messages, and registers handlers for them. Null without a
 * primary.
 */
export function thisWorker(): Worker | null {
  const { worker } = cluster
  if (worker === undefined) return null
  // Ignore errors: if the channel is closed, this process is about to end.
  const send = (message: FromWorker): void => void worker.send(message, () => undefined)
  const counts = new CountsChannel(send)
  let accept: ((socket: Socket) => void) | null = null
  let notReplaced: string | null = null
  let stop: ((withinMs: number) => Promise<void>) | null = null
  let measure: (() => Promise<AggregatedMetrics>) | null = null
  worker.on('message', (message: ToWorker, handle?: unknown) => {
    if ('counted' in message) counts.handleReplies(message)
    else if ('connection' in message) {
      // The socket is missing if the client has disconnected.
      if (handle instanceof Socket) accept?.(handle)
      send({ accepted: message.connection })
    } else if ('stopWithinMs' in message) void stop?.(message.stopWithinMs).finally(() => worker.disconnect())
    else if ('notReplaced' in message) notReplaced = message.notReplaced
    else if ('measureAs' in message)
      void measure?.().then((metrics) => send({ measuredAs: message.measureAs, metrics }))
  })
  // Ignore signals, which terminals and systemd send to all processes: the primary stops its workers.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
  return {
    id: worker.id,
    isReplacement: process.env[replacementVariable] === 'yes',
    registerPolicies: (policies) => {
      send({ policies })
      return counts
    },
    serving: () => send({ event: 'serving' }),
    notReplaced: () => notReplaced,
    receive: (handler) => {
      accept = handler
    },
    onStop: (stopHandler) => {
      stop = stopHandler
    },
    measure: (measureHandler) => {
      measure = measureHandler
    },
  }
}
