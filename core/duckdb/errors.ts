export class QueryTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`the query took longer than ${timeoutMs} ms`)
    this.name = 'QueryTimeout'
  }
}

export class OutOfMemory extends Error {
  constructor(cause: unknown) {
    super('the query needs more memory than it may use', { cause })
    this.name = 'OutOfMemory'
  }
}
