import { open, readdir, rename } from 'node:fs/promises'
import path from 'node:path'

/** Writes that survive a power cut: a file is synced before its name is, and a name by syncing its folder. */

export async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Syncs every file of a folder, then the folder itself. */
export async function syncTree(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await syncFile(path.join(folder, name))
  await syncFolder(folder)
}

export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A rename that has happened for good when this returns. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncFolder(path.dirname(to))
}

/** Writes a file that is seen whole or not at all, in place of the one before. */
export async function replaceDurably(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}${draftEnding}`
  await writeDurably(draft, text)
  await renameDurably(draft, file)
}

/** Of files that a killed job leaves behind. */
export const draftEnding = '.draft'
