import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { silentProgress, type Progress } from '../../ingest/base/progress.ts'
import { outcomeLines, type Outcome } from '../../ingest/job/report.ts'
import { csv, onDay, refresh, rowsOf, shopWith } from './support/refreshes.ts'

/** Jobs that run at the same time on one table. */

test('an ingest leaves one complete lock file for each table, and the next ingest reuses it', async () => {
  const shop = await shopWith(csv(10))
  const names = await readdir(path.join(shop.warehouse, '.locks'))
  expect(names).toEqual(['d.t'])
  expect((await refresh(shop, csv(11), onDay(2))).status).toBe('published')
  expect(await readdir(path.join(shop.warehouse, '.locks'))).toEqual(['d.t'])
})

test('a job that works on a table excludes other jobs until it ends', async () => {
  const shop = await shopWith(csv(10))
  await shop.write('d/t.csv', csv(11))
  const others: Promise<Outcome[]>[] = []
  // Begun at each step of the first.
  const step = (): void => void others.push(shop.ingest(onDay(2)))
  const progress = (): Progress => ({ ...silentProgress, step })
  const [first] = await shop.ingest({ ...onDay(2), progress })
  expect([first?.status, others.length > 3]).toEqual(['published', true])
  const lines = (await Promise.all(others)).map(([outcome]) => outcomeLines(outcome as Outcome)[0])
  expect(new Set(lines)).toEqual(
    new Set([
      `d/t: FAILED, process ${process.pid} is already working on d/t: nothing was done; run this again when it has finished`,
    ]),
  )
  expect((await shop.ingest(onDay(3)))[0]?.status).toBe('unchanged')
})

test('the second of two concurrent jobs names the first one, and does nothing', async () => {
  const shop = await shopWith(csv(10))
  const holder = `
    import { openStore } from './dist/core/warehouse/stores/open.js'
    await openStore(${JSON.stringify(shop.warehouse)}).lock('d/t')
    console.log('held')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', holder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await once(child.stdout, 'data')
    const outcome = await refresh(shop, csv(11), onDay(2))
    expect(outcomeLines(outcome)[0]).toBe(
      `d/t: FAILED, process ${child.pid} is already working on d/t: nothing was done; run this again when it has finished`,
    )
    expect([await rowsOf(shop), await readdir(path.join(shop.warehouse, 'd', 't'))]).toEqual([
      10,
      expect.not.arrayContaining(['failure.json']),
    ])
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const [after] = await shop.ingest(onDay(3))
  expect(after?.status).toBe('published')
})
