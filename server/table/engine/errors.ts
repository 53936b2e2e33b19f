export class TooLarge extends Error {
  constructor() {
    super(
      'The rows of this page need more memory than a page may use: request fewer rows with the parameter page_size, or fewer fields with the parameter fields.',
    )
    this.name = 'TooLarge'
  }
}

/** More values than any query may read; the message suggests an alternative. */
export class TooCostly extends Error {
  /** Estimated groups of an aggregate; null if unknown, or for rows. */
  groups: number | null = null

  constructor(message: string) {
    super(message)
    this.name = 'TooCostly'
  }
}

/** Files may be damaged. If they are, an intact older snapshot serves from then on. */
export class DamagedTable extends Error {
  readonly table: string

  constructor(table: string) {
    super(`the files of ${table} are damaged, or changed after they were published`)
    this.name = 'DamagedTable'
    this.table = table
  }
}
