import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'

/** Holds a free port of this machine until it is released. */
export async function heldPort(wanted = 0): Promise<{ port: number; release: () => Promise<void> }> {
  const server = net.createServer().listen(wanted, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  return { port: address.port, release: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** Below the range of ephemeral ports, so that no other test gets one meanwhile. */
const [portMin, portMax] = [20_000, 30_000] as const

/** A port on which nobody listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const held = await heldPort(randomInt(portMin, portMax)).catch(() => null)
    if (held === null) continue
    await held.release()
    return held.port
  }
}
