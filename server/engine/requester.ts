/** Who waits for rows. */
export interface Reader {
  readonly client: string
  /** What a page may come to, in bytes. */
  readonly pageBytesMax: number
  /** Address of all rows as one file, for whoever asks for too much. */
  readonly wholeFile: string
  /** Fires when the reader has gone. */
  readonly signal: () => AbortSignal
}
