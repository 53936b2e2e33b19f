import fc from 'fast-check'
import type { Counts } from '../../../server/limits/limiter.ts'
import { policyOf } from '../../../server/limits/policies.ts'
import { seed } from '../../support/runs.ts'

export const countedPolicy = policyOf('share', 100, { per: '1h', windowMs: 3_600_000 })

/** Tests that random consecutive amounts are counted as `Counts` documents, for any implementation. */
export async function countsAsDescribed(counts: Counts): Promise<void> {
  const amounts = fc.array(
    fc.tuple(fc.oneof(fc.integer({ min: -60, max: 130 }), fc.constant(0)), fc.boolean()),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  let clients = 0
  await fc.assert(
    fc.asyncProperty(amounts, async (numbers) => {
      clients += 1
      let used = 0
      for (const [amount, isCapped] of numbers) {
        const { totalHits } = await counts.add(`192.0.2.${clients}`, amount, isCapped)
        const wanted = Math.max(0, used + amount)
        const isRefused = wanted > countedPolicy.quota && !isCapped
        if (!isRefused) used = Math.min(wanted, countedPolicy.quota)
        expect(totalHits).toBe(isRefused ? wanted : used)
      }
    }),
    { seed, numRuns: 100 },
  )
}
