import { codeOf } from '../../core/errors.ts'
import { DamagedManifest } from '../../core/warehouse/manifest.ts'
import { DamagedFile, MissingFile } from '../../core/warehouse/whole.ts'

/** What is published does not fit what is declared; the message is for anyone. */
export class Unfit extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Unfit'
  }
}

type Damage = DamagedFile | MissingFile

export function isDamage(error: unknown): error is Damage {
  return error instanceof DamagedFile || error instanceof MissingFile
}

/** Why something is not served, for anyone who asks: no path of the machine is in it. The log says it in full. */
export function reasonOf(error: unknown): string {
  if (isDamage(error) || error instanceof Unfit) return error.message
  if (error instanceof DamagedManifest)
    return 'its manifest is damaged or of an unknown format; run `make ingest` to publish the table anew'
  const code = codeOf(error)
  return `its files cannot be read${code === undefined ? '' : ` (${code})`}; the log says more`
}
