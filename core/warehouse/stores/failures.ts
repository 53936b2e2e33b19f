import { codeOf, messageOf } from '../../errors.ts'

/** What the store answered, or that it did not. */
export class StoreFailure extends Error {
  /** As S3 or the system calls it, such as `AccessDenied` or `ECONNREFUSED`. */
  readonly code: string

  constructor(what: string, cause: unknown) {
    const code = codeOf(cause) ?? nameOf(cause)
    super(`${what}: ${code}: ${messageOf(cause)}`, { cause })
    this.name = 'StoreFailure'
    this.code = code
  }
}

/** Another job wrote a file since this one read it. */
export class WriteConflict extends Error {
  constructor(address: string) {
    super(`${address} was written by another job meanwhile, and is as that left it; run this one again`)
    this.name = 'WriteConflict'
  }
}

export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}
