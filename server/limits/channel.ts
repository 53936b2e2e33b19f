import type { Counts, Usage } from './limiter.ts'

type Question = readonly [id: number, policy: string, client: string, amount: number, isCapped: boolean]
/** Id, usage afterwards, and end of the window in ms since 1970; the id alone for an unknown policy. */
type Reply = readonly [id: number] | readonly [id: number, totalHits: number, resetsAt: number]

interface Waiting {
  readonly policy: string
  readonly resolve: (usage: Usage) => void
  readonly reject: (error: Error) => void
}

export interface Questions {
  readonly counts: readonly Question[]
}
export interface Replies {
  readonly counted: readonly Reply[]
}

/**
 * Counts in the primary process, over the channel of a worker. Questions from one event-loop turn share a
 * message, since a message costs as much as a cached page. Replies need no timeout: the watchdog of a hanging
 * primary ends both processes.
 */
export class CountsChannel {
  readonly #send: (questions: Questions) => void
  readonly #waiting = new Map<number, Waiting>()
  #batch: Question[] = []
  #last = 0

  constructor(send: (questions: Questions) => void) {
    this.#send = send
  }

  countsOf(policy: string): Counts {
    return { add: (client, amount, isCapped = false) => this.#ask(policy, client, amount, isCapped) }
  }

  handleReplies({ counted }: Replies): void {
    for (const [id, totalHits, resetsAt] of counted) {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (totalHits !== undefined && resetsAt !== undefined)
        waiting?.resolve({ totalHits, resetTime: new Date(resetsAt) })
      else waiting?.reject(new Error(`the primary process has no limit "${waiting.policy}"`))
    }
  }

  #ask(policy: string, client: string, amount: number, isCapped: boolean): Promise<Usage> {
    this.#last += 1
    const id = this.#last
    if (this.#batch.length === 0) setImmediate(() => this.#flush())
    this.#batch.push([id, policy, client, amount, isCapped])
    return new Promise((resolve, reject) => this.#waiting.set(id, { policy, resolve, reject }))
  }

  #flush(): void {
    const batch = this.#batch
    this.#batch = []
    this.#send({ counts: batch })
  }
}

export async function answerQuestions(
  countsOf: (policy: string) => Counts | undefined,
  { counts }: Questions,
): Promise<Replies> {
  const replies = counts.map(async ([id, policy, client, amount, isCapped]): Promise<Reply> => {
    const usage = await countsOf(policy)?.add(client, amount, isCapped)
    return usage === undefined ? [id] : [id, usage.totalHits, usage.resetTime.getTime()]
  })
  return { counted: await Promise.all(replies) }
}
