import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { runLoad, type Load, type LoadResult } from './load.ts'
import type { Usage } from './probe.ts'

/** A server in a process of its own, watched by the probe. */
export interface Server {
  readonly port: number
  readonly pid: number
  /** Returns the usage since the last call. */
  readonly usage: () => Promise<Usage>
  readonly stop: () => Promise<void>
}

export interface Measured extends LoadResult {
  readonly cpuMs: number
  readonly loopBusyMs: number
  readonly loopDelayMaxMs: number
  readonly rssMaxMb: number
}

type Environment = Readonly<Record<string, string>>

let port = 18_100

export async function startService(environment: Environment): Promise<Server> {
  const [line = ''] = (await readFile('dist/ingest/main.js', 'utf8')).split('\n')
  const flags = line.match(/--[\w-]+(=\S+)?/g) ?? []
  return start('dist/server/process/main.js', environment, flags)
}

export async function startReference(kind: 'http' | 'express', environment: Environment): Promise<Server> {
  return start('dist/bench/reference.js', { KIND: kind, ...environment }, [])
}

const commonEnvironment = {
  UV_THREADPOOL_SIZE: '16',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '262144',
  DUCKDB_JE_MALLOC_CONF: 'narenas:1,dirty_decay_ms:250,muzzy_decay_ms:0',
}

async function start(file: string, environment: Environment, flags: readonly string[]): Promise<Server> {
  port += 1
  const servicePort = port
  const child = fork(file, {
    env: { ...process.env, ...commonEnvironment, PORT: String(servicePort), ...environment },
    execArgv: [...flags, '--import', './dist/bench/probe.js'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  await waitUntilAnswering(servicePort, child)
  return {
    port: servicePort,
    pid: child.pid ?? 0,
    usage: () => usageOf(child),
    stop: async () => {
      const exit = once(child, 'exit')
      child.kill()
      await exit
    },
  }
}

async function waitUntilAnswering(servicePort: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (child.exitCode !== null) throw new Error(`a server ended with ${child.exitCode}`)
    const response = await fetch(`http://127.0.0.1:${servicePort}/`).catch(() => null)
    if (response !== null) return
    await setTimeout(100)
  }
  throw new Error('a server does not answer')
}

export async function usageOf(child: ChildProcess): Promise<Usage> {
  child.send('usage')
  const [usage] = (await once(child, 'message')) as [Usage]
  return usage
}

/** Runs a load against a server; `warmUp` first runs a part without measuring. */
export async function measure(
  server: Server,
  load: Omit<Load, 'port'>,
  warmUp: { readonly seconds: number } | null = null,
): Promise<Measured> {
  if (warmUp !== null) await runLoad({ ...load, ...warmUp, requests: Infinity, port: server.port })
  // Resets the usage that the next call returns.
  await server.usage()
  const result = await runLoad({ ...load, port: server.port })
  const usage = await server.usage()
  return {
    ...result,
    cpuMs: usage.cpuMs / result.requests,
    loopBusyMs: usage.loopBusyMs / result.requests,
    loopDelayMaxMs: usage.loopDelayMaxMs,
    rssMaxMb: usage.rssMaxBytes / 1e6,
  }
}
