import { setTimeout } from 'node:timers/promises'

const everyMs = 10
/** Long enough for a machine that does much else; nobody waits so long where all is well. */
const patienceMs = 30_000

/** Waits until something is so. @throws Error where it is not so for very long */
export async function until(isSo: () => boolean | Promise<boolean>, ms = patienceMs): Promise<void> {
  const deadline = Date.now() + ms
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited ${ms} ms in vain for ${isSo.toString()}`)
    await setTimeout(everyMs)
  }
}
