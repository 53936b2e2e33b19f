import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { fileNames, layout } from '../core/warehouse/layout.ts'
import { publishedOf } from '../core/warehouse/publish.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { bareLine, type Bench, type Line } from './cases.ts'

const table = { dataset: 'bench', name: 'large' }
const reportShape = z.object({ seconds: z.record(z.string(), z.number()) })

/** Compares the ingest of the largest table with COPYs that check nothing. */
export async function ingests({ environment, folder }: Bench): Promise<Line[]> {
  const copySeconds = await bareSeconds(environment)
  const warehouse = await mkdtemp(path.join(folder, 'ingest-'))
  try {
    const { seconds, rssMaxMb } = await measureIngest({ ...environment, WAREHOUSE: warehouse })
    const steps = await stepsIn(warehouse)
    const detail = Object.entries(steps).map(([step, time]) => `${step} ${time.toFixed(1)}`)
    const { packing: downloadSeconds = 0 } = steps
    const detailText = `s of its steps: ${detail.join(', ')}`
    return [
      bareLine(
        'ingest without the download, to a bare COPY of the source',
        's',
        seconds - downloadSeconds,
        copySeconds.parquet,
        ['<=', 3],
        detailText,
      ),
      bareLine(
        'ingest with the download, to bare COPYs of both',
        's',
        seconds,
        copySeconds.sum,
        ['<=', 1],
        '',
      ),
      bareLine('the same, to the first COPY alone', 's', seconds, copySeconds.parquet, ['<=', 4], ''),
      bareLine('highest RSS of the ingest', 'MB', rssMaxMb, null, ['<', 1500], ''),
    ]
  } finally {
    await rm(warehouse, { recursive: true, force: true })
  }
}

interface BareSeconds {
  readonly parquet: number
  readonly sum: number
}

async function bareSeconds(environment: Readonly<Record<string, string>>): Promise<BareSeconds> {
  const child = fork('dist/bench/bare-copy.js', {
    env: { ...process.env, ...environment, UV_THREADPOOL_SIZE: '16' },
  })
  const [seconds] = (await once(child, 'message')) as [BareSeconds]
  await once(child, 'exit')
  return seconds
}

const lookEveryMs = 100

async function measureIngest(
  environment: Readonly<Record<string, string>>,
): Promise<{ seconds: number; rssMaxMb: number }> {
  const began = performance.now()
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', 'dist/ingest/main.js', 'ingest', 'bench/large'],
    {
      env: { ...process.env, ...environment, UV_THREADPOOL_SIZE: '16' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  let rssMaxMb = 0
  const memoryWatch = setInterval(() => {
    void rssMaxOf(child.pid).then((mb) => (rssMaxMb = Math.max(rssMaxMb, mb)))
  }, lookEveryMs)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(memoryWatch)
  if (code !== 0) throw new Error('the table was not published')
  return { seconds: (performance.now() - began) / 1000, rssMaxMb }
}

/** Highest resident memory so far, by Linux; 0 if it cannot be read. */
async function rssMaxOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, 'utf8').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

async function stepsIn(warehouse: string): Promise<Readonly<Record<string, number>>> {
  const store = openStore(warehouse)
  const manifest = await publishedOf(store, table)
  if (manifest === null) throw new Error('nothing was published')
  const report = await store.get(`${layout.snapshot(table, manifest.snapshot)}/${fileNames.report}`)
  return reportShape.parse(JSON.parse(String(report))).seconds
}
