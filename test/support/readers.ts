import { once, setMaxListeners } from 'node:events'
import http from 'node:http'
import { setTimeout } from 'node:timers/promises'

/**
 * The server closes a connection without a request for a second. Readers in a process that got no processor for this
 * long may ask too late; resets within `excusedMs` of that are no failures of the server.
 */
const lateMs = 300
const excusedMs = 3000

/** Readers who ask again as soon as they are answered, each on a connection that is kept as long as the server keeps it. */
export interface Readers {
  /** Answers so far, by their status. */
  readonly answers: ReadonlyMap<number, number>
  /** Requests that got none: what went wrong, and how often. */
  readonly failures: ReadonlyMap<string, number>
  /** Faults that `look` has found. */
  readonly problems: readonly string[]
  /** Returns the number of readers with an answer. */
  readonly begun: () => number
  /** The longest that a request took, in ms. */
  readonly longest: () => number
  readonly stop: () => Promise<void>
}

export interface Load {
  readonly port: number
  readonly readers: number
  /** The address that a reader asks for next. */
  readonly target: (reader: number, asked: number) => string
  readonly headers?: Readonly<Record<string, string>>
  /** Returns the fault of an answer; null if there is none. */
  readonly look?: (target: string, status: number, body: Buffer) => string | null
  /** True if an absent server is a failure; else the reader ends. */
  readonly mustBeThere?: boolean
  /** Between an answer and the next request, in ms; none where it is not said. */
  readonly thinkMs?: () => number
}

export function readers({
  port,
  readers: count,
  target,
  headers = {},
  look,
  mustBeThere = true,
  thinkMs,
}: Load): Readers {
  const [answers, failures] = [new Map<number, number>(), new Map<string, number>()]
  const problems: string[] = []
  const over = new AbortController()
  let [tick, lateAt] = [performance.now(), -Infinity]
  const ticks = setInterval(() => {
    const now = performance.now()
    if (now - tick > lateMs) lateAt = now
    tick = now
  }, 50)
  setMaxListeners(0, over.signal)
  let longest = 0
  const read = async (reader: number): Promise<void> => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    for (let asked = 0; !over.signal.aborted; asked += 1) {
      const path = target(reader, asked)
      const began = performance.now()
      try {
        const { status, body } = await get({ host: '127.0.0.1', port, path, headers, agent })
        plus(answers, status)
        served.add(reader)
        const fault = look?.(path, status, body) ?? null
        if (fault !== null) problems.push(fault)
      } catch (error) {
        const code = String((error as NodeJS.ErrnoException).code ?? error)
        if (code === 'ECONNREFUSED' && !mustBeThere) break
        const isOwnFault = code === 'ECONNRESET' && performance.now() - lateAt < excusedMs
        if (!isOwnFault) plus(failures, code)
        // As a reader would, who is not to take the machine from the server that starts.
        await setTimeout(20)
      }
      longest = Math.max(longest, performance.now() - began)
      if (thinkMs !== undefined)
        await setTimeout(thinkMs(), undefined, { signal: over.signal }).catch(() => undefined)
    }
    agent.destroy()
  }
  const served = new Set<number>()
  const running = Array.from({ length: count }, (_, reader) => read(reader))
  return {
    answers,
    failures,
    problems,
    begun: () => served.size,
    longest: () => longest,
    stop: async () => {
      over.abort()
      await Promise.all(running)
      clearInterval(ticks)
    },
  }
}

function plus<K>(map: Map<K, number>, key: K): void {
  map.set(key, (map.get(key) ?? 0) + 1)
}

async function get(options: http.RequestOptions): Promise<{ status: number; body: Buffer }> {
  const asked = http.get(options)
  const [response] = (await once(asked, 'response')) as [http.IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) }
}
