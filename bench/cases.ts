import { randomInt } from 'node:crypto'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { runLoad, type Answer } from './load.ts'
import { measure, startReference, startService, type Measured, type Server } from './servers.ts'
import { median } from './median.ts'

/** One line of the result: our figure against the figure of a reference from the same run. */
export interface Line {
  readonly title: string
  readonly unit: string
  readonly ours: number
  readonly reference: number | null
  readonly ratio: number | null
  /** Bar for the ratio, or for our own figure if there is no reference. */
  readonly bar: string
  readonly isReached: boolean
  readonly detail: string
  readonly figures: readonly Figures[]
}

export type Figures = Pick<
  Measured,
  'perSecond' | 'cpuMs' | 'loopBusyMs' | 'loopDelayMaxMs' | 'p50' | 'p99' | 'rssMaxMb'
>

export interface Bench {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly pages: number
  readonly seconds: number
  readonly rounds: number
  /** Share of the usual number of requests. Below 1, the run only shows that every case works. */
  readonly share: number
}

/** Returns at least 20, since a few requests give no reliable figure. */
export const requestsOf = ({ share }: Bench, usual: number): number => Math.max(20, Math.round(share * usual))

const base = '/api/v1/dataset/bench'
export const pageOf = (table: string, page: number | 'last', size = 100): string =>
  `${base}/${table}/data/?page=${page}&page_size=${size}`
const onePage = (): string => pageOf('large', 7)
export const noCaches = { CACHE_MB: '0' }

/** Minimum of several runs: other work of the machine only adds to CPU time. */
export const leastOf = (values: readonly number[]): number => Math.min(...values)

/**
 * Builds a result line; its bar applies to `ours`, or to the ratio if there is a reference.
 * @param runs measurements of the service, then of the reference
 */
export function line(
  title: string,
  unit: string,
  ours: number,
  reference: number | null,
  [comparison, limit]: readonly ['<=' | '>=' | '<', number],
  ...runs: readonly (readonly Measured[])[]
): Line {
  const value = reference === null ? ours : ours / reference
  const isReached = comparison === '>=' ? value >= limit : comparison === '<' ? value < limit : value <= limit
  const ratio = reference === null ? null : value
  const figures = runs.map(figuresOf)
  const detail = figures.map(textOf).join('; reference: ')
  return { title, unit, ours, reference, ratio, bar: `${comparison} ${limit}`, isReached, detail, figures }
}

export function bareLine(
  ...[title, unit, ours, reference, bar, detail]: [...LineParts, detail: string]
): Line {
  return { ...line(title, unit, ours, reference, bar), detail }
}

type LineParts = [
  title: string,
  unit: string,
  ours: number,
  reference: number | null,
  bar: readonly ['<=' | '>=' | '<', number],
]

function figuresOf(runs: readonly Measured[]): Figures {
  const medianOf = (key: keyof Figures): number => median(runs.map((run) => run[key]))
  return {
    perSecond: medianOf('perSecond'),
    cpuMs: medianOf('cpuMs'),
    loopBusyMs: medianOf('loopBusyMs'),
    loopDelayMaxMs: medianOf('loopDelayMaxMs'),
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    rssMaxMb: medianOf('rssMaxMb'),
  }
}

function textOf({ perSecond, cpuMs, p50, p99, loopDelayMaxMs, rssMaxMb }: Figures): string {
  const times = `${(1000 * cpuMs).toFixed(0)} CPU-µs, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms`
  return `${perSecond.toFixed(0)}/s, ${times}, loop delay ${loopDelayMaxMs.toFixed(0)} ms, RSS ${rssMaxMb.toFixed(0)} MB`
}

export async function ownSql(bench: Bench, table: string): Promise<number> {
  const child = fork('dist/bench/own-sql.js', {
    env: {
      ...process.env,
      ...bench.environment,
      TABLE: table,
      STATEMENTS: String(requestsOf(bench, 300)),
      UV_THREADPOOL_SIZE: '16',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [cpuMs] = (await once(child, 'message')) as [number]
  return cpuMs
}

export async function livePages(bench: Bench): Promise<Line[]> {
  const hundredth = Math.max(1, Math.floor(bench.pages / 100))
  const statementMs: number[] = []
  const walk: Measured[] = []
  const walks: Measured[] = []
  const random: Measured[] = []
  const warm: Measured[] = []
  for (let round = 0; round < bench.rounds; round += 1) {
    statementMs.push(await ownSql(bench, 'large'))
    const service = await startService(bench.environment)
    const from = 1 + randomInt(Math.ceil(bench.pages / 2))
    const next = (request: number): string => pageOf('large', 1 + ((from + request) % bench.pages))
    await runLoad({
      port: service.port,
      connections: 1,
      requests: requestsOf(bench, 3000),
      target: (n) => pageOf('small', 1 + (n % hundredth)),
    })
    walk.push(await measure(service, { connections: 1, requests: requestsOf(bench, 6000), target: next }))
    const eighth = Math.floor(bench.pages / 8)
    const eight = (n: number): string => pageOf('large', 1 + (n % 8) * eighth + (Math.floor(n / 8) % eighth))
    walks.push(await measure(service, { connections: 8, requests: requestsOf(bench, 6000), target: eight }))
    await service.stop()
    const cutting = await startService({ ...bench.environment, CACHE_MB: '0' })
    const thousand = (n: number): string => pageOf('large', 1 + (n % 8), 1000)
    warm.push(
      await measure(
        cutting,
        { connections: 1, requests: requestsOf(bench, 1000), target: thousand },
        { seconds: 1 },
      ),
    )
    await cutting.stop()
  }
  const service = await startService(bench.environment)
  const anywhere = { connections: 1, target: () => pageOf('large', 1 + randomInt(bench.pages)) }
  // V8 has compiled the code after this many requests; hardly any page repeats.
  await measure(service, { ...anywhere, requests: requestsOf(bench, 2000) })
  // The two measurements alternate, so other work of the machine affects both.
  for (let round = 0; round < 2 * bench.rounds + 1; round += 1) {
    statementMs.push(await ownSql(bench, 'large'))
    random.push(await measure(service, { ...anywhere, requests: requestsOf(bench, 400) }))
  }
  await service.stop()
  const reference = leastOf(statementMs)
  const cpu = (runs: readonly Measured[]): number => leastOf(runs.map(({ cpuMs }) => cpuMs))
  return [
    line('walk of one reader, CPU a page, to its own SQL', 'ms', cpu(walk), reference, ['<=', 0.15], walk),
    line(
      'walk of eight readers, CPU a page, to its own SQL',
      'ms',
      cpu(walks),
      reference,
      ['<=', 0.15],
      walks,
    ),
    line(
      'random page, CPU, to its own SQL',
      'ms',
      median(random.map(({ cpuMs }) => cpuMs)),
      median(statementMs),
      ['<=', 1.3],
      random,
    ),
    line(
      'page of 1,000 rows, event loop busy',
      'ms',
      leastOf(warm.map(({ loopBusyMs }) => loopBusyMs)),
      null,
      ['<', 1],
      warm,
    ),
  ]
}

export async function pageDepths(bench: Bench): Promise<Line[]> {
  const runs: Record<'first' | 'last' | 'large' | 'small', number[]> = {
    first: [],
    last: [],
    large: [],
    small: [],
  }
  const service = await startService({ ...bench.environment, ...noCaches })
  const targets = {
    first: () => pageOf('large', 1),
    last: () => pageOf('large', 'last'),
    large: () => pageOf('large', 1 + randomInt(bench.pages)),
    small: () => pageOf('small', 1 + randomInt(Math.max(1, Math.floor(bench.pages / 100)))),
  } as const
  for (let round = 0; round < 2 * bench.rounds + 1; round += 1) {
    for (const [name, target] of Object.entries(targets)) {
      const { cpuMs } = await measure(service, { connections: 1, requests: requestsOf(bench, 150), target })
      // The first round only warms up.
      if (round > 0) runs[name as keyof typeof targets].push(cpuMs)
    }
  }
  await service.stop()
  return [
    line(
      'last page to first of the large table, both cold, CPU',
      'ms',
      leastOf(runs.last),
      leastOf(runs.first),
      ['<=', 1.2],
    ),
    line(
      'page of the large table to one of a hundredth, cold, CPU',
      'ms',
      leastOf(runs.large),
      leastOf(runs.small),
      ['<=', 1.3],
    ),
  ]
}

/** CPU time of HTML pages, compared with JSON pages, without caches. */
export async function htmlPages(bench: Bench): Promise<Line[]> {
  const service = await startService({ ...bench.environment, ...noCaches })
  const [htmlMs, jsonMs]: [number[], number[]] = [[], []]
  const randomPage = (): number => 1 + randomInt(2 * bench.pages)
  for (let round = 0; round <= bench.rounds; round += 1) {
    const reader = { connections: 1, requests: requestsOf(bench, 150) }
    const jsonResult = await measure(service, { ...reader, target: () => pageOf('large', randomPage(), 50) })
    const htmlResult = await measure(service, {
      ...reader,
      target: () => `/en/dataset/bench/large/?page=${randomPage()}`,
    })
    // The first round only warms up.
    if (round === 0) continue
    jsonMs.push(jsonResult.cpuMs)
    htmlMs.push(htmlResult.cpuMs)
  }
  await service.stop()
  return [
    line('page of a table for people, CPU, to the JSON of its rows', 'ms', leastOf(htmlMs), leastOf(jsonMs), [
      '<=',
      8,
    ]),
  ]
}

/**
 * Compares the rates of cached pages and 304 responses with those of bare servers that send the same bytes.
 */
export async function cachedPages(bench: Bench): Promise<Line[]> {
  const pages = 500
  const pageInTurn = (n: number): string => pageOf('large', 1 + (n % pages))
  const service = await startService(bench.environment)
  const cachedAnswers = await fetchAnswers(
    service,
    Array.from({ length: pages }, (_, page) => pageInTurn(page)),
    {},
  )
  const onePageAnswer = cachedAnswers.find(({ target }) => target === onePage())
  const tag = /\r\netag: (.*)/i.exec(onePageAnswer?.head ?? '')?.[1] ?? ''
  const notModifiedAnswers = await fetchAnswers(service, [onePage()], { 'If-None-Match': tag })
  const [pagesFile, notModifiedFile] = [
    path.join(bench.folder, 'pages.json'),
    path.join(bench.folder, 'fresh.json'),
  ]
  await writeFile(pagesFile, JSON.stringify(cachedAnswers.map(asStored)))
  await writeFile(notModifiedFile, JSON.stringify(notModifiedAnswers.map(asStored)))
  const pagesEnvironment = { ANSWERS: pagesFile }
  const headersEnvironment = { HEADERS: 'yes' }
  const servers = {
    service,
    http: await startReference('http', pagesEnvironment),
    express: await startReference('express', pagesEnvironment),
    expressHeaders: await startReference('express', { ...pagesEnvironment, ...headersEnvironment }),
    express304: await startReference('express', { ANSWERS: notModifiedFile, ...headersEnvironment }),
  }
  const load = { connections: 16, seconds: bench.seconds }
  const warmUp = { seconds: Math.min(1, bench.seconds) }
  const unchanged = { ...load, target: onePage, headers: { 'If-None-Match': tag } }
  const cases = {
    turn: () => measure(service, { ...load, target: pageInTurn }, warmUp),
    turnHttp: () => measure(servers.http, { ...load, target: pageInTurn }, warmUp),
    turnExpress: () => measure(servers.express, { ...load, target: pageInTurn }, warmUp),
    onePage: () => measure(service, { ...load, target: onePage }, warmUp),
    oneHttp: () => measure(servers.http, { ...load, target: onePage }, warmUp),
    oneExpress: () => measure(servers.expressHeaders, { ...load, target: onePage }, warmUp),
    unchanged: () => measure(service, unchanged, warmUp),
    unchangedExpress: () => measure(servers.express304, unchanged, warmUp),
  } as const
  const runs: Record<string, Measured[]> = {}
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const [name, run] of Object.entries(cases)) (runs[name] ??= []).push(await run())
  }
  for (const server of Object.values(servers)) await server.stop()
  const rate = (name: keyof typeof cases): number =>
    median((runs[name] ?? []).map(({ perSecond }) => perSecond))
  const compare = (
    title: string,
    ours: keyof typeof cases,
    reference: keyof typeof cases,
    ratioMin: number,
  ): Line =>
    line(title, '1/s', rate(ours), rate(reference), ['>=', ratioMin], runs[ours] ?? [], runs[reference] ?? [])
  return [
    compare('500 pages in turn, kept as pages, to bare Express', 'turn', 'turnExpress', 0.6),
    compare('one kept page, to bare Express with the same headers', 'onePage', 'oneExpress', 0.75),
    compare('one kept page, to bare node:http', 'onePage', 'oneHttp', 0),
    compare('304, to a 304 of bare Express', 'unchanged', 'unchangedExpress', 0.75),
  ]
}

export async function fetchAnswers(
  { port }: Server,
  targets: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  await runLoad({
    port,
    connections: 1,
    requests: targets.length,
    target: (number) => targets[number] ?? '',
    headers,
    keepBodies: true,
    onAnswer: (answer) => answers.push(answer),
  })
  return answers
}

export function asStored({ target, status, head, body }: Answer) {
  const nodeHeaders = new Set(['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding'])
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 2)] as const)
    .filter(([name]) => !nodeHeaders.has(name.toLowerCase()))
  return { target, status, headers: Object.fromEntries(headers), body: body.toString('base64') }
}
