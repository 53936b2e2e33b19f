import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseChecks } from '../../core/warehouse/checks-text.ts'
import { hashWithChecks, type FileChecks } from '../../core/warehouse/file-checks.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { DamagedFile } from '../../core/warehouse/whole.ts'
import { Unfit } from './reasons.ts'
import type { Snapshot } from './snapshot.ts'

/** What the pieces of the Parquet files of a snapshot were: as its ingest kept it, or as they were read here. */
export class Checks {
  readonly #folder: string
  readonly #manifest: Manifest
  readonly #hold: Snapshot['hold']
  readonly #read = new Map<string, FileChecks>()
  #kept: Promise<ReadonlyMap<string, FileChecks>> | null = null

  constructor(folder: string, manifest: Manifest, hold: Snapshot['hold']) {
    this.#folder = folder
    this.#manifest = manifest
    this.#hold = hold
  }

  /** Whether a file need not be read for them. */
  isKept(file: string): boolean {
    return this.#manifest.checks !== undefined || !isParquet(file)
  }

  /** Whether no more of a file has to be read to know them; asked once all were hashed that had to be. */
  has(file: string): boolean {
    return this.isKept(file) || this.#read.has(file)
  }

  /** SHA-256 of a file, all of which is read, and summed up where nobody has. */
  async hash(file: string): Promise<string> {
    if (this.isKept(file)) return hashOf(path.join(this.#folder, file))
    // Without a footer it is not what was written, as its hash will show.
    const found = await hashWithChecks(path.join(this.#folder, file)).catch(() => null)
    if (found === null) return hashOf(path.join(this.#folder, file))
    this.#read.set(file, found.checks)
    return found.sha256
  }

  /** Of a Parquet file. */
  async of(file: string): Promise<FileChecks> {
    const read = this.#read.get(file)
    if (read !== undefined) return read
    this.#kept ??= this.#readKept().catch((error: unknown) => {
      // Whatever it was may pass.
      this.#kept = null
      throw error
    })
    const kept = (await this.#kept).get(file)
    if (kept === undefined) throw new Unfit(`${file} is no Parquet that this server can read`)
    return kept
  }

  async #readKept(): Promise<ReadonlyMap<string, FileChecks>> {
    const { checks } = this.#manifest
    if (checks === undefined) return new Map()
    const letGo = await this.#hold([checks.file])
    const bytes = await readFile(path.join(this.#folder, checks.file)).finally(letGo)
    if (createHash('sha256').update(bytes).digest('hex') !== checks.sha256)
      throw new DamagedFile(`${checks.file} is not as it was written`)
    return parseChecks(bytes.toString())
  }
}

/** Indexes ended with `.lookup` once. */
function isParquet(file: string): boolean {
  return /\.(parquet|index|lookup)$/.test(file)
}
