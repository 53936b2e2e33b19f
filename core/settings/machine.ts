import os from 'node:os'

/** Properties of the machine, from which settings with the value `auto` follow. */
export interface Machine {
  readonly processors: number
  /** Memory in bytes: of the container, if the process runs in one. */
  readonly memory: number
  readonly workers: number
}

export function thisMachine(): Omit<Machine, 'workers'> {
  // Without a container, `constrainedMemory` may return more than any machine has.
  const memory = Math.min(os.totalmem(), process.constrainedMemory() || Infinity)
  return { processors: os.availableParallelism(), memory }
}
