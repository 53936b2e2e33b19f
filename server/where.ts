/** Tells whoever started it by hand where to look: on a terminal by a line that is an address and nothing else. */
export function sayWhere({ href }: URL): void {
  if (process.stdout.isTTY) process.stdout.write(`${href}\n`)
  else process.stderr.write(`The pages are at ${href}\n`)
}
