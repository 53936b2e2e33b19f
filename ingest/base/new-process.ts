import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Variables that only a new process reads; the environment overrides them. */
type Environment = Readonly<Record<string, string>>

/** Few arenas of malloc, and threads for files and statements. */
const jobEnvironment: Environment = { MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '16' }

/** The same, and allocators that return free memory. */
const serverEnvironment: Environment = {
  ...jobEnvironment,
  MALLOC_MMAP_THRESHOLD_: '262144',
  DUCKDB_JE_MALLOC_CONF: 'narenas:1,dirty_decay_ms:250,muzzy_decay_ms:0',
}

/** Options of Node for a server; those of V8 keep its memory small. */
const serverOptions = ['--max-semi-space-size=2', '--initial-old-space-size=32', '--enable-source-maps']

/** Runs the server in a new process. */
export function runServer(): Promise<number> {
  const program = fileURLToPath(new URL('../../server/process/main.js', import.meta.url))
  return runNode([...serverOptions, program], serverEnvironment)
}

/** Runs a job with the environment of jobs: in this process if it has that, else in a new one. */
export function runJob(work: () => Promise<number>): Promise<number> {
  if (process.env['UV_THREADPOOL_SIZE'] !== undefined) return work()
  return runNode(['--enable-source-maps', ...process.argv.slice(1)], jobEnvironment)
}

/**
 * Replaces this process by a new one with the same id, if Node can do that. Otherwise starts a child process,
 * forwards signals to it, and returns its exit code.
 */
async function runNode(args: readonly string[], environment: Environment): Promise<number> {
  const env = { ...environment, ...process.env }
  // Node 22.15 or newer has this function; the types are those of the oldest supported Node.
  const { execve } = process as { execve?: (file: string, args: readonly string[], env: object) => never }
  if (execve !== undefined && process.platform !== 'win32')
    execve(process.execPath, [process.execPath, ...args], env)
  const child = spawn(process.execPath, args, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
