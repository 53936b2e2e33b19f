import { StartError } from '../errors.ts'

/** Something wrong in a catalog, and where. */
export interface Fault {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** More than a person reads at once; one wrong indent may be thousands. */
const toldMax = 50

/** The catalog cannot be used; carries every fault that was found, and tells the first. */
export class CatalogError extends StartError {
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults
      .slice(0, toldMax)
      .map((fault) => `${fault.file}:${fault.line}:${fault.column}: ${fault.message}`)
    if (faults.length > toldMax) lines.push(`and ${(faults.length - toldMax).toLocaleString('en')} more`)
    const title = `${file} has ${faults.length === 1 ? 'a fault' : `${faults.length.toLocaleString('en')} faults`}:`
    super([title, ...lines].join('\n'))
    this.faults = faults
  }
}
