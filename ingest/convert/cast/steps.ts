export class Steps {
  /** SQL of the outermost subquery so far. */
  from: string

  constructor(from: string) {
    this.from = from
  }

  /**
   * Adds a subquery that computes a column from each input, unless the result is a column already.
   * @param make SQL of the result for an input
   * @returns names of the columns
   */
  next(prefix: string, inputs: readonly string[], make: (input: string, index: number) => string): string[] {
    const expressions = inputs.map(make)
    const names = expressions.map((sql, index) => (/^\w+$/.test(sql) ? sql : `${prefix}${index}`))
    const columns = expressions.flatMap((sql, index) =>
      names[index] === sql ? [] : [`${sql} as ${names[index]}`],
    )
    if (columns.length > 0) this.from = `(select *, ${columns.join(', ')} from ${this.from})`
    return names
  }
}
