import type { Parameter } from '../../core/duckdb/connection.ts'
import type { Reads } from './reads.ts'

/** SQL and parameters, not yet run. */
export interface Plan {
  readonly sql: string
  readonly parameters: readonly Parameter[]
  /** Null where no file is read. */
  readonly reads: Reads | null
}

/** Values of readers on their way into a statement: each is a parameter, and the SQL holds its number alone. */
export class Parameters {
  readonly values: Parameter[] = []

  add(value: Parameter): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}
