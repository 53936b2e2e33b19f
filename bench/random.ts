import { createHash } from 'node:crypto'

export interface Random {
  /** Number from 0 to 1, excluding 1. */
  readonly next: () => number
  /** Whole number, both ends included. */
  readonly integerBetween: (min: number, max: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <T>(items: readonly T[]) => T
  readonly digits: (count: number) => string
}

export function randomFrom(seed: string): Random {
  const next = sfc32(seed)
  const integerBetween = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    integerBetween,
    chance: (probability) => next() < probability,
    pick: <T>(items: readonly T[]): T => {
      const item = items[Math.floor(next() * items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    digits: (count) => Array.from({ length: count }, () => integerBetween(0, 9)).join(''),
  }
}

/** Chris Doty-Humphrey's "small fast counter" generator, 32 bits (PractRand). */
function sfc32(seed: string): () => number {
  const digest = createHash('sha256').update(seed).digest()
  let [a, b, c, counter] = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), 1]
  return () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 4_294_967_296
  }
}
