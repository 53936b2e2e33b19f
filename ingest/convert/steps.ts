/** Tables of more fields have one expression for all fields that are read alike: DuckDB takes milliseconds to plan each. */
export const wideFields = 100

type Make = (input: string, index: number) => string

/** Selections around each other, each of which has columns that are made of those of the one inside. */
export class Steps {
  /** SQL of the outermost selection so far. */
  from: string

  constructor(from: string) {
    this.from = from
  }

  /**
   * Makes a column of each input, unless it is no more than a column already.
   *
   * @param make SQL of what becomes of an input
   * @returns the names of the columns
   */
  next(prefix: string, inputs: readonly string[], make: Make): string[] {
    const expressions = inputs.map(make)
    if (inputs.length > wideFields) this.#makeAlike(prefix, inputs, expressions, make)
    const names = expressions.map((sql, index) => (isColumn(sql) ? sql : `${prefix}${index}`))
    this.#add(
      expressions.flatMap((sql, index) => (names[index] === sql ? [] : [`${sql} as ${names[index]}`])),
    )
    return names
  }

  /** Makes an expression of each input, which in wide tables is a column. */
  last(prefix: string, inputs: readonly string[], make: Make): string[] {
    return inputs.length > wideFields ? this.next(prefix, inputs, make) : inputs.map(make)
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
