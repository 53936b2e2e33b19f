const declared: (() => void)[] = []

/**
 * Declares hooks for all test files. The modules of a worker are loaded once, and hooks that one of them would declare outside of
 * this function belong to the test file that loads it first.
 */
export function inEachFile(declare: () => void): void {
  declared.push(declare)
}

/** Called by the runner after a test file has been loaded. */
export function declareHooks(): void {
  for (const declare of declared) declare()
}
