/** Prints the address of the pages if somebody reads at a terminal. The log has it in any case. */
export function printUrl({ href }: URL): void {
  const terminal = [process.stdout, process.stderr].find(({ isTTY }) => isTTY)
  terminal?.write(terminal === process.stdout ? `${href}\n` : `The pages are at ${href}\n`)
}
