import { StartError } from '../errors.ts'

/** Something wrong in catalog.yaml, and where. */
export interface Fault {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The catalog cannot be used; carries every fault that was found. */
export class CatalogError extends StartError {
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults.map((fault) => `${file}:${fault.line}:${fault.column}: ${fault.message}`)
    const title = `${file} has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:`
    super([title, ...lines].join('\n'))
    this.faults = faults
  }
}
