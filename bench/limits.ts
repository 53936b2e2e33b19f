import { randomInt } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parse, stringify } from 'yaml'
import type { Bench, Line } from './cases.ts'
import { runLoad } from './load.ts'
import { startService, type Server } from './servers.ts'

const base = '/api/v1/dataset/bench'
const honestReaders = 50
const thinkMs = 1100

/** Expensive requests; each differs, so nothing is cached. */
const worstTargets: readonly ((number: number) => string)[] = [
  // Filters and reorders the whole table, so that a page has rows from everywhere.
  (number) =>
    `${base}/large/data/?order_for_place__gte=${number % 97}&ordering=-city&page_size=10000&page=${1 + (number % 9)}`,
  (number) => `${base}/large/data/?search=${'aeiou'[number % 5]}${number}&page_size=10000`,
  (number) => `${base}/large/data/?ordering=-order_for_place&page=${50 + number}&page_size=10000`,
  (number) => `${base}/large/data/?page_size=10000&page=${1 + (number % 100)}`,
  (number) => `${base}/large/export/?format=ndjson&order_for_place__gte=${number % 89}`,
  (number) => `${base}/large/data/?city__contains=${'aeiou'[number % 5]}&state__ne=${number}&page_size=10000`,
]

/**
 * Measures honest readers beside one client that sends the most expensive requests as fast as the limits of
 * the shipped catalog allow.
 */
export async function atItsLimits(bench: Bench, seconds: number): Promise<Line[]> {
  const catalog = parse(await readFile(bench.environment['CATALOG'] ?? '', 'utf8')) as Record<string, unknown>
  const { limits } = parse(await readFile('catalog.yaml', 'utf8')) as { limits: unknown }
  const file = path.join(bench.folder, 'limited.yaml')
  await writeFile(file, stringify({ ...catalog, limits }))
  const service = await startService({
    ...bench.environment,
    CATALOG: file,
    TRUST_PROXY: '1',
    QUERY_TIMEOUT_MS: '60000',
  })
  const alone = await measureHonestReaders(service, bench, seconds)
  const abuseEnd = new AbortController()
  const abuse = sendWorstRequests(service, abuseEnd.signal)
  const besideAbuser = await measureHonestReaders(service, bench, seconds)
  abuseEnd.abort()
  const statuses = await abuse
  await service.stop()
  const ratio = besideAbuser.p95 / alone.p95
  return [
    {
      title: `${honestReaders} readers beside a client at its limits with the worst asks: their p95, to that without it`,
      unit: 'ms',
      ours: besideAbuser.p95,
      reference: alone.p95,
      ratio,
      bar: '<= 2',
      isReached: ratio <= 2,
      detail: `${besideAbuser.answers} answers and ${besideAbuser.failed} failures; the client: ${JSON.stringify(statuses)}`,
      figures: [],
    },
  ]
}

interface Honest {
  readonly p95: number
  readonly answers: number
  readonly failed: number
}

async function measureHonestReaders({ port }: Server, bench: Bench, seconds: number): Promise<Honest> {
  const times: number[] = []
  let failed = 0
  const end = performance.now() + seconds * 1000
  const readPages = async (reader: number): Promise<void> => {
    await setTimeout(Math.random() * thinkMs)
    while (performance.now() < end) {
      await runLoad({
        port,
        connections: 1,
        requests: 1,
        headers: { 'X-Forwarded-For': `198.51.100.${reader}` },
        target: () => `${base}/large/data/?page_size=100&page=${1 + randomInt(bench.pages)}`,
        onAnswer: ({ status, ms }) => {
          if (status === 200) times.push(ms)
          else failed += 1
        },
      })
      await setTimeout(thinkMs)
    }
  }
  await Promise.all(Array.from({ length: honestReaders }, (_, reader) => readPages(reader)))
  const sortedTimes = times.toSorted((a, b) => a - b)
  return {
    p95: sortedTimes[Math.floor(sortedTimes.length * 0.95)] ?? Number.NaN,
    answers: times.length,
    failed,
  }
}

async function sendWorstRequests({ port }: Server, signal: AbortSignal): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {}
  let number = randomInt(1000)
  const sendRequests = async (): Promise<void> => {
    while (!signal.aborted) {
      number += 1
      const target = worstTargets[number % worstTargets.length]?.(number) ?? base
      const { statuses: newStatuses } = await runLoad({
        port,
        connections: 1,
        requests: 1,
        headers: { 'X-Forwarded-For': '192.0.2.1' },
        target: () => target,
      })
      for (const [status, count] of Object.entries(newStatuses))
        statuses[status] = (statuses[status] ?? 0) + count
      await setTimeout(50)
    }
  }
  await Promise.all(Array.from({ length: 4 }, sendRequests))
  return statuses
}
