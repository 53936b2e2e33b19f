import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { cpuMsOf } from './processes.ts'

type PeerRequest = string | { readonly address: string; readonly json: object }

/** Requests for each peer: 100 rows, or a single row for a count. */
export interface Asks {
  /** A page of the whole table; `share` runs from start (0) to end (1). */
  readonly page: (share: number) => PeerRequest
  readonly first: (state: string) => PeerRequest
  /** Page in the middle of a state's rows. */
  readonly deep: (state: string, middle: Middle) => PeerRequest
  readonly ordered: (state: string) => PeerRequest
  readonly contains: (text: string) => PeerRequest
  readonly count: (state: string) => PeerRequest
  /** Counts by the values of fields, the first 1000 groups; absent if the peer cannot group. */
  readonly groups?: (fields: readonly string[]) => PeerRequest
  readonly distinct?: (field: string) => PeerRequest
}

/**
 * Sends a request to a peer and parses the JSON of its response.
 * @throws if the status is not a success
 */
export async function responseOf(request: PeerRequest): Promise<unknown> {
  const { address, json } = typeof request === 'string' ? { address: request, json: undefined } : request
  // Not every peer compresses, so none does.
  const headers = { 'Accept-Encoding': 'identity' }
  const post = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } }
  const response = await fetch(
    address,
    json === undefined ? { headers } : { ...post, body: JSON.stringify(json) },
  )
  const body: unknown = await response.json()
  if (!response.ok) throw new Error(`${address} responded with status ${response.status}`)
  return body
}

/** The row halfway through the rows of a Brazilian state. */
export interface Middle {
  readonly rows: number
  /** Its number in the order of the file, from 1. */
  readonly row: number
}

export interface Peer {
  readonly name: string
  readonly asks: Asks
  /** Returns the total that an answer states for all pages; null if it states none. */
  readonly countIn: (body: unknown) => number | null
  readonly rowsIn: (body: unknown) => number
  readonly roots: readonly number[]
  readonly stop: () => Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

export async function startProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  address: string,
): Promise<ChildProcess> {
  const child = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  for (let tries = 0; tries < 300; tries += 1) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`)
    const answer = await fetch(address).catch(() => null)
    await answer?.arrayBuffer()
    if (answer?.ok === true) return child
    await setTimeout(100)
  }
  child.kill()
  throw new Error(`${program} does not answer at ${address}`)
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const over = once(child, 'exit')
  child.kill()
  await over
}

export async function cpuMsOfPeer({ roots }: Peer): Promise<number> {
  let sum = 0
  for (const root of roots) sum += await cpuMsOf(root)
  return sum
}
