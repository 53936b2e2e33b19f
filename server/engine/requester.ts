/** Who waits for rows. */
export interface Requester {
  readonly client: string
  /** What a page may come to, in bytes. */
  readonly pageBytesMax: number
  /** Fires when the reader has gone. */
  readonly signal: () => AbortSignal
}
