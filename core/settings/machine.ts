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

/** So many megabytes for each worker, and at most such a part of the memory for all of them. */
export function megabytesFor({ memory, workers }: Machine, each: number, part: number): number {
  return Math.max(1, Math.floor(Math.min(each * workers, memory / part / 1e6)))
}
