import { stat } from 'node:fs/promises'

/** A rename gives a file another inode; a change of its bytes, however its times are set after, another time of change. */
export async function fingerprint(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, ctimeMs, size } = await stat(file)
    return `${ino} ${mtimeMs} ${ctimeMs} ${size}`
  } catch {
    return 'none'
  }
}
