/** Prints the address of the pages; on a terminal, the line has nothing else. */
export function printUrl({ href }: URL): void {
  if (process.stdout.isTTY) process.stdout.write(`${href}\n`)
  else process.stderr.write(`The pages are at ${href}\n`)
}
