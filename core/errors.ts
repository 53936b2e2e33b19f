/** A program cannot start or continue; the message says what is wrong, where, and what to do. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}

/** Returns what to print for a fatal error: the message of an expected one, or the error with its stack for a bug. */
export function lastWords(error: unknown): unknown {
  const isExpected = error instanceof StartError || codeOf(error)?.startsWith('ERR_PARSE_ARGS') === true
  return isExpected ? messageOf(error) : error
}

/** Returns the code of a Node error, such as `ENOENT`; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : undefined
}

export function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error
  return hasMessage ? String(error.message) : String(error)
}

/** A lock is held by another process, or elsewhere in this one. */
export class LockHeld extends Error {
  /** Id of the process that holds the lock; null if unknown. */
  readonly pid: number | null

  constructor(pid: number | null) {
    super(pid === null ? 'another process holds the lock' : `process ${pid} holds the lock`)
    this.name = 'LockHeld'
    this.pid = pid
  }
}
