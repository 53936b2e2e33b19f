import net from 'node:net'

/** Holds a free port of this machine until it is released. */
export async function heldPort(): Promise<{ port: number; release: () => Promise<void> }> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { port: address.port, release: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const { port, release } = await heldPort()
  await release()
  return port
}
