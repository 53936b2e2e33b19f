import { mkdtempSync, rmSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'

const remainderMs = 86_400_000
const signals = { SIGINT: 130, SIGTERM: 143 } as const

/** Folder of one command, removed at its end, or when a signal ends it. */
export class TemporaryFolder {
  readonly path: string

  private constructor(start: string) {
    // Listens first and creates the folder synchronously, so that no signal leaves it behind.
    for (const signal of Object.keys(signals)) process.on(signal, this.#end)
    this.path = mkdtempSync(start)
  }

  /**
   * Also removes the folders of killed commands.
   * @param prefix of its name, such as `acervo-add-`
   */
  static async open(prefix: string): Promise<TemporaryFolder> {
    const home = os.tmpdir()
    for (const name of await readdir(home)) {
      const folder = path.join(home, name)
      if (name.startsWith(prefix) && (await isRemainder(folder)))
        await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    }
    return new TemporaryFolder(path.join(home, prefix))
  }

  /** The command then has to remove the folder. */
  ignoreSignals(): void {
    for (const signal of Object.keys(signals)) process.off(signal, this.#end)
  }

  async remove(): Promise<void> {
    this.ignoreSignals()
    await rm(this.path, { recursive: true, force: true })
  }

  readonly #end = (signal: NodeJS.Signals): void => {
    rmSync(this.path, { recursive: true, force: true })
    process.exit(signals[signal as keyof typeof signals])
  }
}

async function isRemainder(folder: string): Promise<boolean> {
  const facts = await lstat(folder).catch(() => null)
  const isOwn = facts?.isDirectory() === true && facts.uid === process.getuid?.()
  return isOwn && Date.now() - facts.mtimeMs > remainderMs
}
