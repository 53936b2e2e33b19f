import type { ChildProcess } from 'node:child_process'
import { inEachFile } from './each-file.ts'

const running: ChildProcess[] = []

inEachFile(() => {
  afterAll(async () => {
    for (const child of running.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      await ended
    }
  })
})

/** Ends a program with the test file, stopped or not. */
export function endWithTests(child: ChildProcess): ChildProcess {
  running.push(child)
  return child
}
