import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { freePort } from './ports.ts'
import { until } from './until.ts'
import { endWithFile } from './each-file.ts'

/** In characters. */
const saidMax = 100_000_000

/** The built programs as an operator runs them; `npm test` has built them. */

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/**
 * Starts a program, which is killed at the end of the test file where it still runs.
 * @param program a verb of `acervo`, such as `ingest`; or a module, such as `server/process/main`
 */
export function start(
  program: string,
  args: readonly string[],
  settings: Record<string, string>,
  input: Uint8Array | null = null,
) {
  const script = program.includes('/') ? [`dist/${program}.js`] : ['dist/ingest/main.js', program]
  return startNode([...script, ...args], settings, input)
}

/** Address of a compiled module, which a script imports. */
export const moduleAt = (file: string): string => pathToFileURL(path.resolve('dist', file)).href

/** Starts a script of its own, which is killed at the end of the test file where it still runs. */
export const startScript = (code: string) => startNode(['--input-type=module', '-e', code], {}, null)

function startNode(args: readonly string[], settings: Record<string, string>, input: Uint8Array | null) {
  const environment = { PATH: process.env['PATH'], HOME: os.tmpdir(), UV_THREADPOOL_SIZE: '8', ...settings }
  const child = spawn(process.execPath, args, {
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(input ?? '')
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    // The end is enough for a server that runs for an hour.
    if (out.length > saidMax) out = out.slice(-saidMax / 2)
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, out, err }))
  })
  endWithFile(() => {
    child.kill('SIGKILL')
    return ended
  })
  return { child, ended, out: () => out, err: () => err }
}

export const run = (
  program: string,
  args: readonly string[],
  settings: Record<string, string>,
): Promise<Ended> => start(program, args, settings).ended

export interface ServerProgram {
  readonly port: number
  readonly pid: number
  readonly log: () => string
  /** Waits until it has logged this text; where it never does, the error has all that it said. */
  readonly says: (text: string, ms?: number) => Promise<void>
  readonly ended: Promise<Ended>
}

/**
 * The server in a process of its own, ended with the test file.
 * @param fixed port where it has to be that of one before
 */
export async function startServer(
  settings: Readonly<Record<string, string>>,
  fixed: number | null = null,
): Promise<ServerProgram> {
  // Another test may take the port first, and then answer in its place.
  for (let tries = 0; tries < 5; tries += 1) {
    const port = fixed ?? (await freePort())
    const { child, ended, out, err } = start('server/process/main', [], {
      RATE_LIMITS: 'off',
      ...settings,
      PORT: String(port),
    })
    for (let wait = 0; wait < 1200 && child.exitCode === null && !out().includes('"serving"'); wait += 1)
      await setTimeout(50)
    const says = (text: string, ms?: number): Promise<void> =>
      until(() => out().includes(text), ms).catch((cause: unknown) => {
        throw new Error(`the server never said ${text}:\n${out()}${err()}`, { cause })
      })
    if (out().includes('"serving"')) return { port, pid: child.pid ?? 0, log: out, says, ended }
    await ended
    if (!err().includes('the port is taken')) throw new Error(`the server did not begin to serve: ${err()}`)
  }
  throw new Error('no port was free')
}
