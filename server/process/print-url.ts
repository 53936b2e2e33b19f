/**
 * Prints the address of the pages: alone on a line of a terminal, else on stderr, so that stdout has only the
 * log.
 */
export function printUrl({ href }: URL): void {
  if (process.stdout.isTTY) process.stdout.write(`${href}\n`)
  else process.stderr.write(`The pages are at ${href}\n`)
}
