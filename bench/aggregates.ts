import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Database } from '../core/duckdb/database.ts'
import { bareLine, type Bench, type Line } from './cases.ts'
import { median } from './median.ts'
import { tableSql } from './selections.ts'
import { startService, type Server } from './servers.ts'

const base = '/api/v1/dataset/bench/large/aggregate/?page_size=1000'
const rounds = 9
const clients = 20

/**
 * Compares the CPU time of new, uncached group queries with DuckDB's own, and measures memory at the maximum
 * number of groups.
 */
export async function aggregates(bench: Bench): Promise<Line[]> {
  const scratch = await mkdtemp(path.join(bench.folder, 'aggregates-'))
  const folders = [String(bench.environment['WAREHOUSE']), scratch]
  const threads = os.availableParallelism()
  const database = await Database.open({ memory: '1GB', threads, scratch, folders })
  const db = await database.connect()
  const service = await startService({ ...bench.environment, CACHE_MB: '0' })
  try {
    const largeSql = await tableSql(bench, 'large')
    const lines: Line[] = []
    for (const [title, query, sql, bar] of cases) {
      const ours: number[] = []
      const duckdbMs: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        // Resets the usage that the next call returns.
        await service.usage()
        await get(service, query(round))
        ours.push((await service.usage()).cpuMs)
        const before = process.cpuUsage()
        await db.rows(sql(largeSql, round))
        const { user, system } = process.cpuUsage(before)
        duckdbMs.push((user + system) / 1000)
      }
      lines.push(bareLine(title, 'CPU-ms', median(ours), median(duckdbMs), ['<=', bar], ''))
    }
    return [...lines, await memoryOf(bench)]
  } finally {
    await service.stop()
    db.close()
    database.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

async function get({ port }: Server, query: string): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}${base}&${query}`)
  const text = await response.text()
  if (response.status === 200) return true
  if (response.status === 422) return false
  throw new Error(`${query}: ${response.status} ${text}`)
}

const groupsWidestFirst = [
  'city,date',
  'city,epidemiological_week',
  'city,state',
  'city,is_last,place_type',
  'city',
] as const

const memoryMb = 512
const allowedExcessMb = 50

/** Measures the peak memory of the service while clients request the widest groups that it accepts. */
async function memoryOf({ environment }: Bench): Promise<Line> {
  const service = await startService({ ...environment, MEMORY: `${memoryMb}MB` })
  try {
    let groupIndex = 0
    while (!(await get(service, `group=${groupsWidestFirst[groupIndex] ?? ''}`))) groupIndex += 1
    const group = groupsWidestFirst[groupIndex] ?? ''
    const loads = Array.from({ length: clients }, async (_, client) => {
      for (let round = 0; round < 4; round += 1) {
        const uncachedFilter = `order_for_place__gte=${client * 4 + round}`
        await get(service, `group=${group}&measure=rows&${uncachedFilter}&ordering=-rows`)
      }
    })
    await Promise.all(loads)
    const { rssMaxBytes } = await service.usage()
    const title = `memory with ${clients} clients of wide groups, to MEMORY`
    const detail = `groups of ${group}`
    return bareLine(title, 'MB', rssMaxBytes / 1e6, memoryMb, ['<=', 1 + allowedExcessMb / memoryMb], detail)
  } finally {
    await service.stop()
  }
}

type Case = readonly [
  title: string,
  query: (round: number) => string,
  sql: (rowsSql: string, round: number) => string,
  bar: number,
]

const cases: readonly Case[] = [
  [
    'rows by state, to DuckDB',
    () => 'group=state',
    (rowsSql) => `select state, count(*) from ${rowsSql} group by 1 order by 1`,
    1,
  ],
  [
    'a sum by state, to DuckDB',
    () => 'group=state&measure=new_deaths__sum',
    (rowsSql) => `select state, sum(new_deaths) from ${rowsSql} group by 1 order by 1`,
    1.3,
  ],
  [
    'rows by two fields with a filter, to DuckDB',
    (round) => `group=date,place_type&state__gte=${'ABCDEFGMP'.charAt(round)}`,
    (rowsSql, round) =>
      `select date, place_type, count(*) from ${rowsSql} where state >= '${'ABCDEFGMP'.charAt(round)}' group by 1, 2 order by 1, 2`,
    1.3,
  ],
]
