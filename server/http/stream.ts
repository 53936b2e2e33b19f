import type { ServerResponse } from 'node:http'
import { whenOver } from './over.ts'
import type { SendBudget } from './send-budget.ts'

/** What comes bit by bit, once its first bit is there: until then it may still fail as a whole. */
export async function begun<T>(chunks: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const left = chunks[Symbol.asyncIterator]()
  const first = await left.next()
  async function* all(): AsyncGenerator<T> {
    try {
      for (let next = first; next.done !== true; next = await left.next()) yield next.value
    } finally {
      await left.return?.()
    }
  }
  return all()
}

/**
 * Sends what comes bit by bit, no faster than the reader takes it. The last word is that of HTTP: whoever gets less sees
 * the transfer break off before its end, whatever the reason.
 *
 * @param unsent counts what the reader has not taken, and cuts off one who takes too long
 * @param trailers told after the last byte, such as a count
 * @throws what the chunks throw, with the connection cut
 */
export async function sendStream(
  res: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  sendBudget: SendBudget,
  trailers: () => Readonly<Record<string, string>>,
): Promise<void> {
  // A client that knows the length may send its next request as soon as it has the last bytes. So send them only after the chunks
  // have ended and closed their files.
  const isLengthTold = res.hasHeader('Content-Length')
  let last: Uint8Array | null = null
  for await (const chunk of chunks) {
    if (res.destroyed) return
    const next = isLengthTold ? last : chunk
    if (isLengthTold) last = chunk
    if (next !== null && !res.write(next)) await taken(res, sendBudget)
  }
  res.addTrailers(trailers())
  res.end(last ?? undefined)
}

/** Until the reader has taken what was sent, or is gone. */
async function taken(res: ServerResponse, sendBudget: SendBudget): Promise<void> {
  const release = sendBudget.hold(res, res.writableLength)
  await new Promise<void>((resolve) => {
    const off = whenOver(res, () => {
      res.off('drain', drained)
      resolve()
    })
    const drained = (): void => {
      off()
      resolve()
    }
    res.once('drain', drained)
  })
  release()
}
