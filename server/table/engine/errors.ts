/**
 * What stops a query for a reason that whoever asked can do something about. Its words are for them; what it is over
 * HTTP is none of the engine's business. Beside these a query throws QueueFull and QueryTimeout.
 */

/** The rows need more memory than they may have. */
export class TooLarge extends Error {
  constructor() {
    super(
      'The rows of this page need more memory than a page may use: ask for fewer with page_size, or for fewer fields with fields.',
    )
    this.name = 'TooLarge'
  }
}

/** It would read more than one query may, whoever asks and whenever; the message says what to ask for instead. */
export class TooCostly extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TooCostly'
  }
}

/** The rows that were read cannot be trusted; a whole snapshot, where there is one, serves from then on. */
export class DamagedTable extends Error {
  /** `dataset/table`. */
  readonly table: string

  constructor(table: string) {
    super(`the files of ${table} are not as they were published`)
    this.name = 'DamagedTable'
    this.table = table
  }
}
