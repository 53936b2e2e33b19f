const declared: (() => void)[] = []
const ends: (() => unknown)[] = []

/**
 * Declares hooks for every test file. A worker loads this module once: without this function, a hook would belong only to the
 * test file that loads the module first.
 */
export function inEachFile(declare: () => void): void {
  declared.push(declare)
}

/**
 * Ends something together with the test file that began it. What began last ends first, so that a folder outlives the programs
 * that write into it.
 */
export function endWithFile(end: () => unknown): void {
  ends.push(end)
}

/** Called by the runner after a test file has been loaded. */
export function declareHooks(): void {
  for (const declare of declared) declare()
  afterAll(endAll)
}

/** @throws AggregateError with all failures, after everything was asked to end */
async function endAll(): Promise<void> {
  const errors: unknown[] = []
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    try {
      await end()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('\n'))
}
