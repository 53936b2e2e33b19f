import os from 'node:os'

/** Properties of the machine, for settings of `auto`. */
export interface Machine {
  readonly processors: number
  /** Bytes; of the container, if it runs in one. */
  readonly memory: number
  /** Number of processes that serve. */
  readonly workers: number
}

export function thisMachine(): Omit<Machine, 'workers'> {
  // Without a container, the limit is larger than any memory.
  const memory = Math.min(os.totalmem(), process.constrainedMemory() || Infinity)
  return { processors: os.availableParallelism(), memory }
}
