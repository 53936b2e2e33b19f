import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ParsedTexts } from '../catalog/load.ts'
import { layout } from './layout.ts'
import type { Store } from './stores/store.ts'

/** Raise it when the same YAML would be parsed into other values. */
const format = 'acervo parsed catalog 1'

/** Caches the parsed YAML of a catalog, since parsing takes most of a start. */
export class ParsedCatalog implements ParsedTexts {
  readonly #store: Store
  #parsed: { readonly text: string; readonly root: unknown } | null = null

  constructor(store: Store) {
    this.#store = store
  }

  async get(text: string): Promise<unknown> {
    const bytes = await this.#store.get(layout.parsedCatalog).catch(() => null)
    if (bytes === null) return undefined
    const end = bytes.indexOf('\n')
    const json = bytes.subarray(end + 1).toString()
    return bytes.subarray(0, end).toString() === head(text, json) ? JSON.parse(json) : undefined
  }

  parsed(text: string, root: unknown): void {
    this.#parsed = { text, root }
  }

  /** Call it with the lock of the files that belong to no table. */
  async keep(): Promise<void> {
    if (this.#parsed === null) return
    const { text, root } = this.#parsed
    const json = JSON.stringify(root)
    // A catalog with values that JSON cannot represent is not cached.
    if (!isDeepStrictEqual(JSON.parse(json), root)) return
    await this.#store.put(layout.parsedCatalog, `${head(text, json)}\n${json}`)
  }
}

function head(text: string, json: string): string {
  return `${format} ${sha256(text)} ${sha256(json)}`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
