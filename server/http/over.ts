import type { ServerResponse } from 'node:http'

/**
 * Calls once when a response is over: sent, given up, or its connection gone. The connection is asked as well, since
 * Node tells a response of its end only where it ever got the connection.
 *
 * @returns calls it off
 */
export function whenOver(res: ServerResponse, then: () => void): () => void {
  const { socket } = res.req
  const off = (): void => {
    res.off('close', over)
    socket.off('close', over)
  }
  const over = (): void => {
    off()
    then()
  }
  if (res.closed || socket.destroyed) then()
  else {
    res.setMaxListeners(0)
    socket.setMaxListeners(0)
    res.once('close', over)
    socket.once('close', over)
  }
  return off
}

/** One signal, made when it is first needed, that fires when the reader goes away before the answer is sent. */
export function untilGone(res: ServerResponse): () => AbortSignal {
  let gone: AbortController | null = null
  return () => {
    if (gone !== null) return gone.signal
    const made = new AbortController()
    gone = made
    whenOver(res, () => {
      if (!res.writableFinished) made.abort()
    })
    return made.signal
  }
}
