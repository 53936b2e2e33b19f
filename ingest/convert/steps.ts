/**
 * Short tables with more fields use one list expression for all fields that are converted alike, since DuckDB
 * takes milliseconds to plan each expression.
 */
const wideFields = 100
const shortRows = 1000

/** Returns whether columns are computed as lists. */
export const areListed = (columns: number, rows: number): boolean => columns > wideFields && rows <= shortRows

type Make = (input: string, index: number) => string

/** Nested subqueries, each with columns computed from those of the inner one. */
export class Steps {
  /** SQL of the outermost subquery so far. */
  from: string

  readonly #rows: number

  /** @param rows approximate number; with many rows, lists cost more than the planning that they save */
  constructor(from: string, rows: number) {
    this.from = from
    this.#rows = rows
  }

  /**
   * Adds a subquery that computes a column from each input; a result that is already a column is not computed
   * again.
   * @param make SQL of the result for an input
   * @returns names of the columns
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

  /** Returns an expression for each input; in short wide tables, the name of a column with its result. */
  last(prefix: string, inputs: readonly string[], make: Make): string[] {
    return areListed(inputs.length, this.#rows) ? this.next(prefix, inputs, make) : inputs.map(make)
  }

  /**
   * Computes columns that have the same expression as one list, and replaces their `expressions` by elements
   * of the list.
   */
  #makeAlike(prefix: string, inputs: readonly string[], expressions: string[], make: Make): void {
    const indexesBySql = new Map<string, number[]>()
    for (const [index, input] of inputs.entries()) {
      const sql = make('cell', index)
      if (isColumn(input) && sql !== expressions[index])
        indexesBySql.set(sql, [...(indexesBySql.get(sql) ?? []), index])
    }
    const lists: string[] = []
    for (const [sql, indexes] of indexesBySql) {
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
