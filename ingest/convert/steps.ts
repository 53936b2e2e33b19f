/** Tables of more fields have one expression for all fields that are read alike: DuckDB takes milliseconds to plan each. */
const wideFields = 100
const shortRows = 1000

/** Whether columns of so many rows are made as lists. */
export const areListed = (columns: number, rows: number): boolean => columns > wideFields && rows <= shortRows

type Make = (input: string, index: number) => string

/** Selections around each other, each of which has columns that are made of those of the one inside. */
export class Steps {
  /** SQL of the outermost selection so far. */
  from: string

  readonly #rows: number

  /** @param rows of it, about: of many, each column costs more in a list than its plan */
  constructor(from: string, rows: number) {
    this.from = from
    this.#rows = rows
  }

  /**
   * Makes a column of each input, unless it is no more than a column already.
   *
   * @param make SQL of what becomes of an input
   * @returns the names of the columns
   */
  next(prefix: string, inputs: readonly string[], make: Make): string[] {
    const expressions = inputs.map(make)
    if (areListed(inputs.length, this.#rows)) this.#makeAlike(prefix, inputs, expressions, make)
    const names = expressions.map((sql, index) => (isColumn(sql) ? sql : `${prefix}${index}`))
    this.#add(
      expressions.flatMap((sql, index) => (names[index] === sql ? [] : [`${sql} as ${names[index]}`])),
    )
    return names
  }

  /** Makes an expression of each input, which in wide tables is a column. */
  last(prefix: string, inputs: readonly string[], make: Make): string[] {
    return areListed(inputs.length, this.#rows) ? this.next(prefix, inputs, make) : inputs.map(make)
  }

  /** Makes all columns that are made alike as one list, of which each is an element. */
  #makeAlike(prefix: string, inputs: readonly string[], expressions: string[], make: Make): void {
    const alike = new Map<string, number[]>()
    for (const [index, input] of inputs.entries()) {
      const sql = make('cell', index)
      if (isColumn(input) && sql !== expressions[index]) alike.set(sql, [...(alike.get(sql) ?? []), index])
    }
    const lists: string[] = []
    for (const [sql, indexes] of alike) {
      if (sql === 'cell' || indexes.length < 2) continue
      const list = `${prefix}_${lists.length}`
      const cells = indexes.map((index) => inputs[index])
      lists.push(`list_transform([${cells.join(', ')}], lambda cell: ${sql}) as ${list}`)
      for (const [place, index] of indexes.entries()) expressions[index] = `${list}[${place + 1}]`
    }
    this.#add(lists)
  }

  #add(columns: readonly string[]): void {
    if (columns.length > 0) this.from = `(select *, ${columns.join(', ')} from ${this.from})`
  }
}

const isColumn = (sql: string): boolean => /^\w+$/.test(sql)
