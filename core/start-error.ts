/** A program cannot start or go on; the message says what is wrong, where, and what to do. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}

/** What to print for an error that ends a program: a stack only where it is a bug. */
export function lastWords(error: unknown): unknown {
  return error instanceof StartError ? error.message : error
}
