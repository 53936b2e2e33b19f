import type { ChildProcess } from 'node:child_process'
import { endWithFile } from '../support/each-file.ts'

/** Ends a program with the test file, stopped or not. */
export function endWithTests(child: ChildProcess): void {
  endWithFile(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGKILL')
    await ended
  })
}
