import os from 'node:os'

/** What `auto` is worked out from. */
export interface Machine {
  readonly processors: number
  /** In bytes; of its container, where it is in one. */
  readonly memory: number
  /** Processes that serve. */
  readonly workers: number
}

export function thisMachine(): Omit<Machine, 'workers'> {
  // Without a container the limit is a number beyond all memory.
  const memory = Math.min(os.totalmem(), process.constrainedMemory() || Infinity)
  return { processors: os.availableParallelism(), memory }
}
