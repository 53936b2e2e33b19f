/** A file that lies elsewhere cannot be brought here now; it may be later. */
export class NotHere extends Error {
  constructor(key: string, why: string, options?: ErrorOptions) {
    super(`${key} is not on this machine, and cannot be brought: ${why}`, options)
    this.name = 'NotHere'
  }
}
