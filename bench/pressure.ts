import { randomInt } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Catalog } from '../core/catalog/catalog.ts'
import type { Bench, Line } from './cases.ts'
import { rowsOf, writeFresh, type BenchTable } from './data.ts'
import { runLoad, type Answer } from './load.ts'
import { startService } from './servers.ts'

const base = '/api/v1/dataset/bench'

/** Measures readers of all tables while one table is refreshed again and again. */
export async function refreshes(
  bench: Bench,
  catalog: Catalog,
  scale: number,
  seconds: number,
): Promise<Line[]> {
  const service = await startService(bench.environment)
  const tables = Object.keys(rowsOf) as BenchTable[]
  const target = (): string => {
    const table = tables[randomInt(tables.length)] ?? 'fresh'
    const pages = Math.max(1, Math.floor((rowsOf[table] * scale) / 100))
    return `${base}/${table}/data/?page_size=100&page=${1 + randomInt(pages)}`
  }
  const versions = new Map<string, Set<string>>()
  let [mixed, failed, published] = [0, 0, 0]
  const onAnswer = ({ target: requestTarget, status, head, body }: Answer): void => {
    if (status !== 200) failed += 1
    else if (requestTarget.includes('/fresh/')) {
      const numbers = new Set(body.toString().match(/"version":\d+/g))
      const snapshot = /\r\nacervo-snapshot: (\S+)/i.exec(head)?.[1] ?? ''
      versions.set(snapshot, new Set([...(versions.get(snapshot) ?? []), ...numbers]))
      if (numbers.size !== 1) mixed += 1
    }
  }
  const endController = new AbortController()
  const refresh = async (): Promise<void> => {
    for (let version = 1; await pause(endController.signal); version += 1) {
      await writeFresh(bench.environment['SOURCES'] ?? '', catalog, version)
      const job = spawn(process.execPath, ['dist/ingest/main.js', 'ingest', 'bench/fresh'], {
        env: { ...process.env, ...bench.environment },
        stdio: 'ignore',
      })
      if (((await once(job, 'exit')) as [number])[0] === 0) published += 1
    }
  }
  const refreshing = refresh()
  await service.usage()
  const result = await runLoad({
    port: service.port,
    connections: 200,
    seconds,
    target,
    keepBodies: true,
    onAnswer,
  })
  endController.abort()
  await refreshing
  const { rssMaxBytes } = await service.usage()
  await service.stop()
  const twice = [...versions.values()].filter((numbers) => numbers.size !== 1).length
  const errors = failed + result.broken
  const rssMb = rssMaxBytes / 1e6
  const title = `${seconds} s, 200 readers, random pages of five tables, a refresh every 5 s`
  const detail = `${result.requests} answers, ${result.perSecond.toFixed(0)}/s, p99 ${result.p99.toFixed(0)} ms, ${published} refreshes, ${versions.size} snapshots seen`
  const lineOf = (name: string, unit: string, ours: number, limit: number): Line => ({
    title: `${title}: ${name}`,
    unit,
    ours,
    reference: null,
    ratio: null,
    bar: `<= ${limit}`,
    isReached: ours <= limit,
    detail,
    figures: [],
  })
  return [
    lineOf('errors', '', errors, 0),
    lineOf('answers that mix snapshots', '', mixed + twice, 0),
    lineOf('highest RSS', 'MB', rssMb, 600),
  ]
}

async function pause(over: AbortSignal): Promise<boolean> {
  return setTimeout(5000, true, { signal: over }).catch(() => false)
}

/** Measures 500 readers that request cold pages as fast as they can. */
export async function overload(bench: Bench, seconds: number): Promise<Line[]> {
  const service = await startService(bench.environment)
  const { port } = service
  const cold = (): string => `${base}/large/data/?page_size=100&page=${1 + randomInt(bench.pages)}`
  const cachedPage = `${base}/small/data/?page_size=100&page=3`
  const tags: string[] = []
  const peak = await runLoad({ port, connections: 8, seconds: Math.max(3, seconds / 3), target: cold })
  await runLoad({
    port,
    connections: 1,
    requests: 3,
    target: () => cachedPage,
    onAnswer: ({ head }) => tags.push(/\r\netag: (.*)/i.exec(head)?.[1] ?? ''),
  })
  const hammering = runLoad({ port, connections: 500, seconds, target: cold })
  await setTimeout(1000)
  const watch = { port, connections: 1, seconds: Math.max(0.5, seconds - 2), target: () => cachedPage }
  const [pages, unchanged] = await Promise.all([
    runLoad(watch),
    runLoad({ ...watch, headers: { 'If-None-Match': tags[0] ?? '' } }),
  ])
  const hammered = await hammering
  const over = performance.now()
  let recovered = Number.NaN
  for (let tries = 0; tries < 200 && Number.isNaN(recovered); tries += 1) {
    const { p50, statuses } = await runLoad({ port, connections: 1, requests: 1, target: cold })
    if (statuses['200'] === 1 && p50 < 100) recovered = (performance.now() - over) / 1000
  }
  await service.stop()
  const good = (hammered.statuses['200'] ?? 0) / hammered.seconds
  const onlyKept =
    Object.keys(pages.statuses).join() === '200' && Object.keys(unchanged.statuses).join() === '304'
  const figures = (name: string, { requests, p99 }: typeof pages): string =>
    `${name}: ${requests}, p99 ${p99.toFixed(0)} ms`
  return [
    {
      title: '500 readers hammering cold pages: live pages, to the most without overload',
      unit: '1/s',
      ours: good,
      reference: peak.perSecond,
      ratio: good / peak.perSecond,
      bar: '>= 0.7',
      isReached: good / peak.perSecond >= 0.7,
      detail: JSON.stringify(hammered.statuses),
      figures: [],
    },
    {
      title: 'meanwhile kept pages and 304s that were not answered',
      unit: '',
      ours: onlyKept ? pages.broken + unchanged.broken : Number.NaN,
      reference: null,
      ratio: null,
      bar: '<= 0',
      isReached: onlyKept && pages.broken + unchanged.broken === 0,
      detail: `${figures('kept', pages)}; ${figures('304', unchanged)}`,
      figures: [],
    },
    {
      title: 'until a cold page answers within 100 ms again',
      unit: 's',
      ours: recovered,
      reference: null,
      ratio: null,
      bar: '< 5',
      isReached: recovered < 5,
      detail: '',
      figures: [],
    },
  ]
}
