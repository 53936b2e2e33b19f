import type { Parameter } from '../../core/duckdb/connection.ts'
import type { Reading } from './reading.ts'

/** SQL and parameters, not yet run. */
export interface Plan {
  readonly sql: string
  readonly parameters: readonly Parameter[]
  /** Null where no file is read. */
  readonly reading: Reading | null
}

/** Values of readers on their way into a statement: each is a parameter, and the SQL holds its number alone. */
export class Parameters {
  readonly values: Parameter[] = []

  add(value: Parameter): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}
