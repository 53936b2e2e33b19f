/** A program cannot start or go on; the message says what is wrong, where, and what to do. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}

/** What to print for an error that ends a program: a stack only where it is a bug. */
export function lastWords(error: unknown): unknown {
  const isExpected = error instanceof StartError || codeOf(error)?.startsWith('ERR_PARSE_ARGS') === true
  return isExpected ? messageOf(error) : error
}

/** The code of an error of Node, such as `ENOENT`; undefined where it has none. */
export function codeOf(error: unknown): string | undefined {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error
  return hasCode && typeof error.code === 'string' ? error.code : undefined
}

export function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error
  return hasMessage ? String(error.message) : String(error)
}

/** Another process works on what a lock stands for. */
export class LockHeld extends Error {
  /** Of the other process; null where the system does not tell. */
  readonly pid: number | null

  constructor(pid: number | null) {
    super(pid === null ? 'another process holds the lock' : `process ${pid} holds the lock`)
    this.name = 'LockHeld'
    this.pid = pid
  }
}
