import type { ClientRateLimitInfo, Store } from 'express-rate-limit'

/** What is asked of whoever keeps the counts: an id, the policy, and the key of the ask (`ask.ts`). */
type Question = readonly [id: number, policy: string, key: string]
/** What it came to: the id, the count, and when the window ends, in ms since 1970. */
type Reply = readonly [id: number, totalHits: number, resetsAt: number]

/** Questions that came up at the same time, and what became of them. */
export interface Questions {
  readonly counts: readonly Question[]
}
export interface Replies {
  readonly counted: readonly Reply[]
}

/** How long a count may take; whoever counts instead is there at once. */
const patienceMs = 250

interface Waiting {
  readonly resolve: (info: ClientRateLimitInfo) => void
  readonly reject: (error: Error) => void
}

/**
 * Counts in another process, over its channel. What comes up in one turn of the event loop goes in one message, since a
 * message costs about as much as a kept page.
 */
export class CountsChannel {
  readonly #send: (questions: Questions) => void
  readonly #waiting = new Map<number, Waiting>()
  #batch: Question[] = []
  #last = 0

  constructor(send: (questions: Questions) => void) {
    this.#send = send
  }

  /** The counts of one policy. */
  of(policy: string): Store {
    return {
      localKeys: false,
      increment: (key) => this.#ask(policy, key),
      decrement: () => undefined,
      resetKey: () => undefined,
    }
  }

  take({ counted }: Replies): void {
    for (const [id, totalHits, resetsAt] of counted) {
      this.#waiting.get(id)?.resolve({ totalHits, resetTime: new Date(resetsAt) })
      this.#waiting.delete(id)
    }
  }

  #ask(policy: string, key: string): Promise<ClientRateLimitInfo> {
    this.#last += 1
    const id = this.#last
    if (this.#batch.length === 0) setImmediate(() => this.#flush())
    this.#batch.push([id, policy, key])
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #flush(): void {
    const batch = this.#batch
    this.#batch = []
    const giveUp = (error: Error): void => {
      for (const [id] of batch) {
        this.#waiting.get(id)?.reject(error)
        this.#waiting.delete(id)
      }
    }
    // A process that was too busy to see the answer looks once more.
    const late = (): void => void setImmediate(() => giveUp(new Error('who keeps the counts did not answer')))
    setTimeout(late, patienceMs).unref()
    try {
      this.#send({ counts: batch })
    } catch (error) {
      giveUp(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

/** Answers the questions of other processes from the counts of this one. */
export function answered(
  storeOf: (policy: string) => Store | undefined,
  { counts }: Questions,
): Promise<Replies> {
  const replies = counts.map(async ([id, policy, key]): Promise<Reply[]> => {
    const info = await storeOf(policy)?.increment(key)
    return info === undefined ? [] : [[id, info.totalHits, info.resetTime?.getTime() ?? 0]]
  })
  return Promise.all(replies).then((all) => ({ counted: all.flat() }))
}
