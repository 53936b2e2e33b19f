import os from 'node:os'

export interface Machine {
  readonly processors: number
  /** Bytes of the machine, or of the container. */
  readonly memory: number
  readonly workers: number
}

export function thisMachine(): Omit<Machine, 'workers'> {
  // Without a container, `constrainedMemory` may return more than any machine has.
  const memory = Math.min(os.totalmem(), process.constrainedMemory() || Infinity)
  return { processors: os.availableParallelism(), memory }
}
