import { spawnSync } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { temporaryFolder, tinyCatalog, workshop } from '../support/workshop.ts'
import { describeWith, strace } from '../support/needs.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0

/** The calls of an ingest of one small table that make things durable, with names that do not change. */
async function durableCalls(): Promise<string[]> {
  const folder = await temporaryFolder()
  const [sources, warehouse, log] = ['sources', 'warehouse', 'calls.log'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string]
  await mkdir(path.join(sources, 'socios-brasil'), { recursive: true })
  await writeFile(path.join(sources, 'socios-brasil', 'empresas.csv'), 'cnpj,razao_social,uf\n01,A,SP\n')
  const { status } = spawnSync(
    'strace',
    [
      '-f',
      // Stops at these calls alone.
      '--seccomp-bpf',
      '-y',
      '-e',
      'trace=fsync,rename',
      '-o',
      log,
      process.execPath,
      'dist/ingest/main.js',
      'ingest',
      'socios-brasil/empresas',
    ],
    { env: { PATH: process.env['PATH'], UV_THREADPOOL_SIZE: '16', SOURCES: sources, WAREHOUSE: warehouse } },
  )
  if (status !== 0) throw new Error(`the ingest ended with ${String(status)}`)
  return (await readFile(log, 'utf8'))
    .replaceAll(warehouse, '')
    .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{12}/g, 'SNAPSHOT')
    .replaceAll(/\/\.scratch\/[^/]+/g, '/SCRATCH')
    .replaceAll(/\.[0-9a-f-]+\.draft/g, '.draft')
    .split('\n')
    .flatMap((line) => {
      const [, synced] = /fsync\(\d+<(.*?)>\)/.exec(line) ?? []
      const [, from, to] = /rename\("(.*?)", "(.*?)"\)/.exec(line) ?? []
      if (from !== undefined && to !== undefined) return [`rename ${from} -> ${to}`]
      return synced === undefined || synced.includes('work.duckdb')
        ? []
        : [`sync ${synced === '' ? '/' : synced}`]
    })
}

describeWith(hasStrace, strace)('according to its system calls,', () => {
  test('an ingest syncs all files before the rename that publishes them, and syncs the rename afterwards', async () => {
    const calls = await durableCalls()
    const home = '/socios-brasil/empresas'
    const show = calls.indexOf(`rename /SCRATCH/work/snapshot -> ${home}/SNAPSHOT`)
    expect(new Set(calls.slice(0, show))).toEqual(
      new Set([
        'sync /.locks/socios-brasil.empresas.draft',
        'sync /SCRATCH/lock.draft',
        'sync /SCRATCH/work/snapshot/codes.bin',
        'sync /SCRATCH/work/snapshot/dictionary.index',
        'sync /SCRATCH/work/snapshot/empresas.csv.gz',
        'sync /SCRATCH/work/snapshot/manifest.json',
        'sync /SCRATCH/work/snapshot/part-00000.parquet',
        'sync /SCRATCH/work/snapshot/report.json',
        'sync /SCRATCH/work/snapshot/rows-00000.bin',
        'sync /SCRATCH/work/snapshot',
      ]),
    )
    expect(calls[show - 1]).toBe('sync /SCRATCH/work/snapshot')
    const views = calls.indexOf('sync /.locks/warehouse.draft')
    const pointed = calls.indexOf(`rename ${home}/current.json.draft -> ${home}/current.json`)
    expect(calls.slice(show + 1, pointed + 2)).toEqual([
      `sync ${home}`,
      'sync /socios-brasil',
      'sync /',
      `sync ${home}/verified.json.draft`,
      `rename ${home}/verified.json.draft -> ${home}/verified.json`,
      `sync ${home}`,
      `sync ${home}/current.json.draft`,
      `rename ${home}/current.json.draft -> ${home}/current.json`,
      `sync ${home}`,
    ])
    // The views are synced before they are shown too; how often DuckDB itself does is its own affair.
    const inWork = /\.wal|SCRATCH\/(lock|work\/spill)|^sync \/SCRATCH\/work$|\.locks/
    const steps = calls.slice(views + 1).filter((call) => !inWork.test(call))
    expect(steps.filter((call, index) => call !== steps[index - 1])).toEqual([
      'sync /.catalog.draft',
      'rename /.catalog.draft -> /.catalog',
      'sync /',
      'sync /SCRATCH/work/warehouse.duckdb',
      'sync /warehouse.duckdb.sha256.draft',
      'rename /warehouse.duckdb.sha256.draft -> /warehouse.duckdb.sha256',
      'sync /',
      'sync /SCRATCH/work/warehouse.duckdb',
      'rename /SCRATCH/work/warehouse.duckdb -> /warehouse.duckdb',
      'sync /',
      'sync /warehouse.duckdb.sha256.draft',
      'rename /warehouse.duckdb.sha256.draft -> /warehouse.duckdb.sha256',
      'sync /',
    ])
  })
})

async function facts(file: string) {
  const { ino, mtimeMs, size } = await stat(file)
  return { ino, mtimeMs, size }
}

test('a publish replaces current.json by another file, and touches no older snapshot', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
  const [first] = await shop.ingest()
  if (first?.status !== 'published') throw new Error('expected a snapshot')
  const home = path.join(shop.warehouse, 'd', 't')
  const part = path.join(home, first.manifest.snapshot, 'part-00000.parquet')
  const [pointerBefore, partBefore] = [await facts(path.join(home, 'current.json')), await facts(part)]
  await shop.write('d/t.csv', 'n\n2\n')
  await shop.ingest({ now: () => new Date('2027-01-01T00:00:00Z') })
  expect((await facts(path.join(home, 'current.json'))).ino).not.toBe(pointerBefore.ino)
  expect(await facts(part)).toEqual(partBefore)
})
