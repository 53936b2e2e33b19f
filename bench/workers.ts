import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Bench, Line } from './cases.ts'
import { median } from './median.ts'
import { startService } from './servers.ts'

const page = '/api/v1/dataset/bench/large/data/?page_size=100'
const connections = 64

/**
 * Compares cached pages of two workers with those of one. Requests the pages with wrk, which needs little
 * CPU; without wrk, measures nothing.
 */
export async function twoWorkers(bench: Bench): Promise<Line[]> {
  if (spawnSync('wrk', ['--version']).error !== undefined) {
    console.log('two workers: wrk is not installed, so they are not measured')
    return []
  }
  const rates: Record<number, number[]> = { 1: [], 2: [] }
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const workers of [1, 2]) {
      const service = await startService({ ...bench.environment, WORKERS: String(workers) })
      // Warm-up, until both workers serve.
      await wrk(service.port, bench.share < 1 ? 1 : 3)
      rates[workers]?.push(await wrk(service.port, Math.ceil(bench.seconds)))
      await service.stop()
    }
  }
  const [single, two] = [median(rates[1] ?? []), median(rates[2] ?? [])]
  const ratio = two / single
  return [
    {
      title: 'one kept page, two workers, to one worker (wrk)',
      unit: '/ s',
      ours: two,
      reference: single,
      ratio,
      bar: '>= 1.6',
      isReached: ratio >= 1.6,
      detail: `each: ${Object.values(rates).flat().map(Math.round).join(', ')}`,
      figures: [],
    },
  ]
}

async function wrk(port: number, seconds: number): Promise<number> {
  const child = spawn(
    'wrk',
    ['-t2', `-c${connections}`, `-d${seconds}s`, `http://127.0.0.1:${port}${page}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(output) ?? []
  if (rate === undefined || /Non-2xx/.test(output)) throw new Error(`wrk: ${output}`)
  return Number(rate)
}
