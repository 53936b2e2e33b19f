import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { runsOf } from '../support/runs.ts'
import { program, versions } from './support/versions.ts'

/** The built ingest, killed at any moment. */

const kills = runsOf('KILLS')

test(`${kills} jobs killed at random leave the old snapshot or the new one, and the next job removes all remainders`, async () => {
  const state = await versions()
  await state.write(1)
  const began = performance.now()
  expect(state.ingest().code).toBe(0)
  const wholeMs = performance.now() - began
  let [before, reads] = [1, 0]
  for (let version = 2; version < 2 + kills; version += 1) {
    await state.write(version)
    const child = spawn(process.execPath, program, { env: state.environment(), stdio: 'ignore' })
    const ended = once(child, 'exit')
    const until = performance.now() + Math.random() * 1.1 * wholeMs
    while (performance.now() < until && child.exitCode === null) {
      expect([before, version]).toContain(await state.published())
      reads += 1
      await wait(1)
    }
    child.kill('SIGKILL')
    await ended
    const now = await state.published()
    expect([before, version]).toContain(now)
    before = now
  }
  // The first kill may come before the first read.
  expect(reads > kills || kills < 10).toBe(true)
  const last = 2 + kills
  await state.write(last)
  expect(state.ingest()).toMatchObject({ code: 0 })
  expect([await state.published(), await state.leftovers()]).toEqual([last, []])
}, 7_200_000)
