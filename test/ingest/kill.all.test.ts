import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Database } from '../../core/duckdb/database.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { publishedOf } from '../../core/warehouse/published.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import { filesInFolder, requireFiles } from '../../core/warehouse/whole.ts'
import { temporaryFolder } from '../support/workshop.ts'
import { isExhaustive, runsOf, seed } from '../support/runs.ts'
import { describeWith, strace } from '../support/needs.ts'

/** The built ingest, killed wherever it is; `npm test` has built it. KILLS sets how often at random. */
const kills = runsOf('KILLS')
const table = { dataset: 'socios-brasil', name: 'empresas' }
/** Different for versions that follow each other, and never so few that the ingest asks. */
const rowsOf = (version: number): number => 500 + (version % 100)

let folder: string
let sources: string
let warehouse: string
beforeAll(async () => {
  folder = await temporaryFolder()
  ;[sources, warehouse] = [path.join(folder, 'sources'), path.join(folder, 'warehouse')]
  await mkdir(path.join(sources, table.dataset), { recursive: true })
})

/** Every row of a version says which it is. */
async function writeVersion(version: number): Promise<void> {
  const rows = Array.from(
    { length: rowsOf(version) },
    (_, row) => `${String(row).padStart(14, '0')},v${version},DF`,
  )
  await writeFile(
    path.join(sources, table.dataset, 'empresas.csv'),
    `cnpj,razao_social,uf\n${rows.join('\n')}\n`,
  )
}

const environment = () => ({ PATH: process.env['PATH'], SOURCES: sources, WAREHOUSE: warehouse })
const program = ['dist/ingest/main.js', 'socios-brasil/empresas']

function ingest(): { code: number | null; out: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, program, {
    env: environment(),
    encoding: 'utf8',
  })
  return { code: status, out: stdout + stderr }
}

/** The version that is published, after every file of it was read and found whole; 0 where nothing is. */
async function published(): Promise<number> {
  const store = openStore(warehouse)
  const manifest = await publishedOf(store, table)
  if (manifest === null) return 0
  const home = store.place(layout.snapshot(table, manifest.snapshot))
  await requireFiles(filesInFolder(home), manifest)
  const database = await Database.open({
    memory: '100MB',
    threads: 1,
    scratch: path.join(folder, 'spill'),
    folders: [warehouse],
  })
  const db = await database.connect()
  try {
    const files = manifest.parts.map(({ file }) => `'${path.join(home, file)}'`)
    const [row] = await db.rows(
      `select count(*)::int, min(razao_social), max(razao_social) from read_parquet([${files.join(', ')}])`,
    )
    const [rows, first, last] = row ?? []
    const version = Number(String(first).slice(1))
    expect([rows, last]).toEqual([rowsOf(version), `v${version}`])
    return version
  } finally {
    db.close()
    database.close()
  }
}

async function leftovers(): Promise<string[]> {
  const names = (await readdir(warehouse, { recursive: true })).map(String)
  return names.filter((name) => name.includes('.scratch/') || name.endsWith('.draft'))
}

test(`${kills} jobs killed at random leave the old snapshot or the new one, and nothing that a next job does not remove`, async () => {
  await writeVersion(1)
  const began = performance.now()
  expect(ingest().code).toBe(0)
  const wholeMs = performance.now() - began
  let [before, reads] = [1, 0]
  for (let version = 2; version < 2 + kills; version += 1) {
    await writeVersion(version)
    const child = spawn(process.execPath, program, { env: environment(), stdio: 'ignore' })
    const ended = once(child, 'exit')
    const until = performance.now() + Math.random() * 1.1 * wholeMs
    while (performance.now() < until && child.exitCode === null) {
      expect([before, version]).toContain(await published())
      reads += 1
      await wait(1)
    }
    child.kill('SIGKILL')
    await ended
    const now = await published()
    expect([before, version]).toContain(now)
    before = now
  }
  expect(reads).toBeGreaterThan(kills)
  const last = 2 + kills
  await writeVersion(last)
  expect(ingest()).toMatchObject({ code: 0 })
  expect([await published(), await leftovers()]).toEqual([last, []])
}, 600_000)

const hasStrace = spawnSync('strace', ['-V']).status === 0

/** Runs an ingest that strace stops, or that it makes fail, at the `when`th call of a kind. */
function ingestUnder(
  call: string,
  fault: string,
  when: number,
): { code: number | null; out: string; hit: boolean } {
  const log = path.join(folder, 'strace.log')
  const { status, signal, stdout, stderr } = spawnSync(
    'strace',
    [
      '-f',
      '-qq',
      '-o',
      log,
      '-e',
      `trace=${call}`,
      '-e',
      `inject=${call}:${fault}:when=${when}`,
      process.execPath,
      ...program,
    ],
    { env: environment(), encoding: 'utf8' },
  )
  return {
    code: status,
    out: stdout + stderr,
    hit:
      signal === 'SIGKILL' ||
      status === 137 ||
      /INJECTED/.test(spawnSync('cat', [log], { encoding: 'utf8' }).stdout),
  }
}

/** In short runs some of them are tried, from the first on: there are few of some kinds. */
function stepFrom(when: number): number {
  return isExhaustive ? 1 : 1 + ((seed + when) % 4)
}

describeWith(hasStrace, strace)('by system calls', () => {
  // All that make what was written last, and what shows it.
  test.each(['fsync', 'rename', 'mkdir', 'unlink', 'rmdir'])(
    'killed at each %s, an ingest leaves the old snapshot or the new one',
    async (call) => {
      await writeVersion(1)
      expect(ingest().code).toBe(0)
      let [before, version, when, hits] = [await published(), 1000, 1, 0]
      for (; ; when += stepFrom(when)) {
        version += 1
        await writeVersion(version)
        const { hit } = ingestUnder(call, 'signal=KILL', when)
        const now = await published()
        expect([before, version]).toContain(now)
        before = now
        if (!hit || when >= 60) break
        hits += 1
      }
      expect(hits).toBeGreaterThan(0)
      await writeVersion(version + 1)
      expect(ingest().code).toBe(0)
      expect([await published(), await leftovers()]).toEqual([version + 1, []])
    },
    300_000,
  )

  test.each([
    ['fsync', 'error=EIO'],
    ['fsync', 'error=ENOSPC'],
    ['rename', 'error=EIO'],
    ['rename', 'error=ENOSPC'],
    ['openat', 'error=EMFILE'],
  ])(
    '%s that fails with %s is told, and the old snapshot stays',
    async (call, fault) => {
      await writeVersion(1)
      expect(ingest().code).toBe(0)
      let [version, failed] = [2000, 0]
      const before = await published()
      // The calls at the start are Node's own; each of the rest is met at random places.
      for (const when of call === 'openat' ? [20, 60, 120, 200] : [1, 2, 3, 5]) {
        version += 1
        await writeVersion(version)
        const { code, out } = ingestUnder(call, fault, when)
        const now = await published()
        if (code !== 0) failed += 1
        expect(/FAILED, |cannot be written|was not made anew|was not written|\bE[A-Z]{2,}/.test(out)).toBe(
          code !== 0,
        )
        // What failed after the pointer was moved has been published all the same, and is told as failed.
        expect([before, version]).toContain(now)
        await rm(path.join(warehouse, table.dataset, table.name, 'failure.json'), { force: true })
        if (now !== before) break
      }
      expect(failed).toBeGreaterThan(0)
    },
    120_000,
  )
})

const disk = path.join(os.tmpdir(), `acervo-disk-${process.pid}`)
mkdirSync(disk)
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]).status === 0
afterAll(() => {
  if (isMounted) spawnSync('umount', [disk])
  rmdirSync(disk)
})

describeWith(isMounted, 'the right to mount a small disk')('a full disk', () => {
  let elsewhere: string
  beforeAll(() => {
    elsewhere = warehouse
    warehouse = path.join(disk, 'warehouse')
  })
  afterAll(() => {
    warehouse = elsewhere
  })

  test('is told, and changes nothing', async () => {
    await writeVersion(1)
    expect(ingest().code).toBe(0)
    const rows = Array.from(
      { length: 200_000 },
      (_, row) => `${row},${randomBytes(30).toString('base64')},DF`,
    )
    const text = `cnpj,razao_social,uf\n${rows.join('\n')}\n`
    await writeFile(path.join(sources, table.dataset, 'empresas.csv'), text)
    const { code, out } = ingest()
    expect([code, out]).toEqual([1, expect.stringMatching(/empresas: FAILED, .*(ENOSPC|[Nn]o space left)/)])
    expect([await published(), await leftovers()]).toEqual([1, []])
    await writeVersion(2)
    expect(ingest().code).toBe(0)
    expect(await published()).toBe(2)
  }, 60_000)
})
