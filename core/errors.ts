/** The message says what is wrong, where, and what to do. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}

/** An error whose message needs no stack. */
export class SystemFailure extends Error {}

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space',
  EDQUOT: 'the quota of the disk is used up: free some space',
  EROFS: 'the file system is read-only: make it writable',
  EACCES: 'this user may not do this: change the owner or the permissions',
  EPERM: 'this user may not do this: change the owner or the permissions',
  EMFILE: 'too many files are open: raise `ulimit -n`',
  EIO: 'the disk or file system is damaged: check it',
  ECONNREFUSED: 'nothing answers there: check the address, and whether the service runs',
  ENOTFOUND: 'there is no such host: check the address',
  CredentialsProviderError:
    'there are no keys for the object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  InvalidAccessKeyId: 'the object store does not know this key: check AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the object store does not accept this key: check AWS_SECRET_ACCESS_KEY',
  AccessDenied: 'this key may not do this: let it read, write and list the bucket',
  NoSuchBucket: 'there is no such bucket: create it, or correct WAREHOUSE',
}

/** Returns the message of an expected error, or an unexpected error with its stack. */
export function fatalMessage(error: unknown): unknown {
  const code = codeOf(error)
  const remedy = remedyOf(error)
  if (remedy !== null) return `${remedy}, then run this again (${messageOf(error)})`
  const isExpected =
    error instanceof StartError ||
    error instanceof SystemFailure ||
    code?.startsWith('ERR_PARSE_ARGS') === true
  return isExpected ? messageOf(error) : error
}

export function remedyOf(error: unknown): string | null {
  return remedies[codeOf(error) ?? ''] ?? null
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

export class LockHeld extends Error {
  readonly pid: number | null

  constructor(pid: number | null) {
    super(pid === null ? 'another process holds the lock' : `process ${pid} holds the lock`)
    this.name = 'LockHeld'
    this.pid = pid
  }
}
