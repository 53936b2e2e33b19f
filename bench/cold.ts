import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { layout } from '../core/warehouse/layout.ts'
import { publishedOf } from '../core/warehouse/publish.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { bareLine, ownSql, requestsOf, type Bench, type Line } from './cases.ts'
import { median } from './median.ts'
import { measure, startService, type Server } from './servers.ts'

/** Measures pages of tables that have a row store, with all caches off. */
export async function cold(bench: Bench): Promise<Line[]> {
  const none = { CACHE_MB: '0' }
  const service = await startService({ ...bench.environment, ...none })
  try {
    return [...(await asks(bench, service)), ...(await indexCosts(bench))]
  } finally {
    await service.stop()
  }
}

const states = ['SP', 'RJ', 'MG', 'BA', 'PR', 'RS', 'PE']

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

async function asks(bench: Bench, service: Server): Promise<Line[]> {
  const counts = new Map<string, number>()
  const count = async (table: string, query: string): Promise<number> => {
    const cachedCount = counts.get(`${table} ${query}`)
    if (cachedCount !== undefined) return cachedCount
    const answer = await fetch(`http://127.0.0.1:${service.port}${addressOf(table, 1, 1, query)}`)
    const rowCount = Number(answer.headers.get('acervo-count'))
    counts.set(`${table} ${query}`, rowCount)
    return rowCount
  }
  for (const table of ['packed', 'packed_small'])
    for (const state of ['', ...states.map(stateCondition)]) await count(table, state)
  const anywhere = (table: string, query: string, size = 100, order = ''): string => {
    const pages = Math.max(1, Math.floor((counts.get(`${table} ${query}`) ?? 0) / size))
    return addressOf(table, 1 + Math.floor(Math.random() * pages), size, `${query}${order}`)
  }
  const inOrder = '&ordering=order_for_place'
  const otherOrder = '&ordering=-last_available_date,city'
  const targets = {
    page: () => anywhere('packed', ''),
    pageSmall: () => anywhere('packed_small', ''),
    first: () => addressOf('packed', 1, 100, stateCondition(pick(states))),
    firstSmall: () => addressOf('packed_small', 1, 100, stateCondition(pick(states))),
    deep: () => anywhere('packed', stateCondition(pick(states))),
    deepSmall: () => anywhere('packed_small', stateCondition(pick(states))),
    orderedFirst: () => addressOf('packed', 1, 100, `${stateCondition(pick(states))}${inOrder}`),
    orderedFirstSmall: () => addressOf('packed_small', 1, 100, `${stateCondition(pick(states))}${inOrder}`),
    orderedDeep: () => anywhere('packed', stateCondition(pick(states)), 100, inOrder),
    orderedDeepSmall: () => anywhere('packed_small', stateCondition(pick(states)), 100, inOrder),
    order: () => anywhere('packed', '', 100, otherOrder),
    orderFiltered: () => anywhere('packed', stateCondition(pick(states)), 100, otherOrder),
  } as const
  const cpuTimes = new Map<string, number[]>()
  // The targets alternate, so that other work of the machine affects all of them.
  for (let round = 0; round < 4 * bench.rounds - 1; round += 1) {
    for (const [name, target] of Object.entries(targets)) {
      const { cpuMs } = await measure(service, { connections: 1, requests: requestsOf(bench, 200), target })
      cpuTimes.set(name, [...(cpuTimes.get(name) ?? []), cpuMs])
    }
  }
  // Skips the first round, the only one that looks values up.
  const cpu = (name: keyof typeof targets): number => median((cpuTimes.get(name) ?? []).slice(1))
  const line = (
    title: string,
    ours: keyof typeof targets,
    reference: keyof typeof targets,
    limit: number,
  ): Line => bareLine(`${title}, CPU`, 'ms', cpu(ours), cpu(reference), ['<=', limit], '')
  const statementMs = await ownSql(bench, 'large')
  return [
    bareLine('random page, CPU, to its own SQL', 'ms', cpu('page'), statementMs, ['<=', 1.3], ''),
    line('random page of 10 M rows, to one of 350,000', 'page', 'pageSmall', 1.1),
    line('first page of a state, 10 M rows, to the same of 350,000', 'first', 'firstSmall', 1.5),
    line('deep page of a state, 10 M rows, to the same of 350,000', 'deep', 'deepSmall', 1.5),
    line(
      'first page of a state in an order, 10 M rows, to 350,000',
      'orderedFirst',
      'orderedFirstSmall',
      1.5,
    ),
    line('deep page of a state in an order, 10 M rows, to 350,000', 'orderedDeep', 'orderedDeepSmall', 1.5),
    line('any page of a declared order, to one in file order', 'order', 'page', 1.5),
    line('the same with a filter', 'orderFiltered', 'page', 1.5),
  ]
}

const stateCondition = (state: string): string => `&state=${state}`

function addressOf(table: string, page: number, size: number, query: string): string {
  return `/api/v1/dataset/bench/${table}/data/?page=${page}&page_size=${size}${query}`
}

async function indexCosts({ environment }: Bench): Promise<Line[]> {
  const store = openStore(String(environment['WAREHOUSE']))
  const table = { dataset: 'bench', name: 'large' }
  const manifest = await publishedOf(store, table)
  if (manifest === null) throw new Error('large is not published')
  const folder = store.place(layout.snapshot(table, manifest.snapshot))
  const report = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8')) as {
    seconds: Record<string, number>
  }
  const { indexing = 0, ...otherSteps } = report.seconds
  const secondsWithoutIndexes = Object.values(otherSteps).reduce((sum, seconds) => sum + seconds, 0)
  const { parts, dictionary, codes, indexes = [] } = manifest
  const bytes = bytesOf(parts)
  const totalBytes = bytes + bytesOf([dictionary, codes, ...indexes])
  return [
    bareLine(
      'ingest with indexes of ten filters, to without',
      's',
      secondsWithoutIndexes + indexing,
      secondsWithoutIndexes,
      ['<=', 1.2],
      '',
    ),
    bareLine(
      'parts with these indexes, to parts alone',
      'MB',
      totalBytes / 1e6,
      bytes / 1e6,
      ['<=', 1.6],
      '',
    ),
  ]
}

function bytesOf(files: readonly ({ readonly bytes: number } | undefined)[]): number {
  return files.reduce((sum, file) => sum + (file?.bytes ?? 0), 0)
}
