import { existsSync } from 'node:fs'
import path from 'node:path'
import { bareLine, leastOf, noCaches, requestsOf, type Bench, type Line } from './cases.ts'
import { linkTables } from './linked.ts'
import { measure, startService } from './servers.ts'

const sizes = { billion: 1_000_000_000, million: 1_000_000 } as const
type Linked = keyof typeof sizes

/**
 * Measures pages at both ends and in the middle of a billion rows, and the start-up time and memory of the
 * server.
 * @param scale factor for the number of rows; 1 for a billion
 */
export async function billion(bench: Bench, scale: number): Promise<Line[]> {
  const folder = path.join(bench.folder, 'billion')
  const environment = {
    ...bench.environment,
    ...noCaches,
    CATALOG: path.join(folder, 'catalog.yaml'),
    WAREHOUSE: path.join(folder, 'warehouse'),
  }
  if (!existsSync(environment.CATALOG)) {
    const tables = Object.entries(sizes).map(([name, rows]) => ({
      name,
      rows: Math.max(1, Math.round(rows * scale)),
    }))
    await linkTables(bench, folder, tables)
  }
  const began = performance.now()
  const service = await startService(environment)
  try {
    const page = (table: Linked, number: number | 'last'): string =>
      `/api/v1/dataset/bench/${table}/data/?page_size=100&page=${number}`
    const first = await fetch(`http://127.0.0.1:${service.port}${page('billion', 1)}`)
    const { count } = (await first.json()) as { count: number }
    const servedMs = performance.now() - began
    const targets = {
      first: () => page('billion', 1),
      middle: () => page('billion', Math.floor(count / 200)),
      last: () => page('billion', 'last'),
      million: () => page('million', Math.max(1, Math.floor(5000 * scale))),
    } as const
    const cpuTimes = new Map<string, number[]>()
    let rss = 0
    for (let round = 0; round < 2 * bench.rounds + 1; round += 1) {
      for (const [name, target] of Object.entries(targets)) {
        const { cpuMs, rssMaxMb } = await measure(service, {
          connections: 1,
          requests: requestsOf(bench, 100),
          target,
        })
        rss = Math.max(rss, rssMaxMb)
        // The first round only warms up.
        if (round > 0) cpuTimes.set(name, [...(cpuTimes.get(name) ?? []), cpuMs])
      }
    }
    const cpu = (name: keyof typeof targets): number => leastOf(cpuTimes.get(name) ?? [])
    const rows = `${(count / 1e6).toFixed(0)} M rows`
    return [
      bareLine(
        `last page of ${rows} to the first, cold, CPU`,
        'ms',
        cpu('last'),
        cpu('first'),
        ['<=', 1.1],
        '',
      ),
      bareLine(`the one in the middle to the first, CPU`, 'ms', cpu('middle'), cpu('first'), ['<=', 1.1], ''),
      bareLine(
        `the one in the middle to one of a million rows, CPU`,
        'ms',
        cpu('middle'),
        cpu('million'),
        ['<=', 1.2],
        '',
      ),
      bareLine('until it is served', 's', servedMs / 1000, null, ['<', 5], ''),
      bareLine('most memory', 'MB', rss, null, ['<', 1000], ''),
    ]
  } finally {
    await service.stop()
  }
}
