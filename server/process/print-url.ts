/** Prints for somebody who reads at a terminal; the log has the address in any case. */
export function printUrl({ href }: URL): void {
  const terminal = [process.stdout, process.stderr].find(({ isTTY }) => isTTY)
  terminal?.write(terminal === process.stdout ? `${href}\n` : `The pages are at ${href}\n`)
}
