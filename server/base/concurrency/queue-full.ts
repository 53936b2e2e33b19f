/** More is asked for at this moment than can be done; the message says of what. Later it may be done. */
export class QueueFull extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'QueueFull'
  }
}
