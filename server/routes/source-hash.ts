import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { contentName } from '../http/responder.ts'

/** Hash of source files in folders of `server`, so that caches ignore bodies of older versions. */
export function sourceHash(...rooms: readonly string[]): string {
  const texts = rooms
    .map((room) => fileURLToPath(new URL(`../${room}`, import.meta.url)))
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted()
    .map((file) => readFileSync(file, 'utf8'))
  return contentName(texts.join('\n'))
}
