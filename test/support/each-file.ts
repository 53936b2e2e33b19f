const declared: (() => void)[] = []

/**
 * Declares hooks for every test file. A worker loads this module once: without this function, a hook would belong only to the
 * test file that loads the module first.
 */
export function inEachFile(declare: () => void): void {
  declared.push(declare)
}

/** Called by the runner after a test file has been loaded. */
export function declareHooks(): void {
  for (const declare of declared) declare()
}
