import { createHash } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openStore } from '../../core/warehouse/stores/open.ts'
import { inScratch, sweepScratch } from '../../ingest/publish/scratch.ts'
import { moduleAt, run, startScript } from '../support/programs.ts'
import { isExhaustive, isQuick, runsOf, testAll } from '../support/runs.ts'
import { catalogText, fieldOf, temporaryFolder } from '../support/workshop.ts'

/** Several jobs on one warehouse, each with a scratch folder of its own. */

/** A number that no process has. */
const pidOfNone = 2 ** 22 + 1
const host = createHash('sha256').update(os.hostname()).digest('hex').slice(0, 8)
const jobs = isExhaustive ? 1000 : isQuick ? 40 : 200

testAll(
  'scratch folders are created and removed without errors while other processes clean up',
  async () => {
    const warehouse = await temporaryFolder()
    const store = openStore(warehouse)
    const sweeping = `
    import { openStore } from '${moduleAt('core/warehouse/stores/open.js')}'
    import { sweepScratch } from '${moduleAt('ingest/publish/scratch.js')}'
    const store = openStore(${JSON.stringify(warehouse)})
    for (let sweeps = 1; ; sweeps += 1) {
      await sweepScratch(store)
      if (sweeps === 1) console.log('sweeping')
    }`
    const sweepers = [startScript(sweeping), startScript(sweeping)]
    for (const { out } of sweepers) while (out() === '') await wait(20)
    const done = await Promise.all(
      [0, 1].map(async () => {
        let count = 0
        for (; count < jobs; count += 1) await inScratch(store, (folder) => mkdir(path.join(folder, 'a')))
        return count
      }),
    )
    expect(done).toEqual([jobs, jobs])
    expect(sweepers.map(({ child, err }) => [child.exitCode, err()])).toEqual([
      [null, ''],
      [null, ''],
    ])
    expect(await readdir(store.scratchFolder)).toEqual([])
  },
  60_000,
)

test.each<[title: string, name: string, ageSeconds: number, isSwept: boolean]>([
  ['of a job of this machine that ended', `${pidOfNone}-${host}-a`, 0, true],
  ['of a job of this machine that runs', `${process.pid}-${host}-a`, 3600, false],
  ['of another machine, just made', `${process.pid}-00000000-a`, 0, false],
  ['of another machine, made an hour ago', `${process.pid}-00000000-a`, 3600, true],
])(
  'an unlocked scratch folder is removed unless its job may still run: %s',
  async (_what, name, ageSeconds, isSwept) => {
    const store = openStore(await temporaryFolder())
    const home = path.join(store.scratchFolder, name)
    await mkdir(home, { recursive: true })
    const made = Date.now() / 1000 - ageSeconds
    await utimes(home, made, made)
    await sweepScratch(store)
    expect(await readdir(store.scratchFolder)).toEqual(isSwept ? [] : [name])
  },
)

const tables = Array.from({ length: isExhaustive ? 48 : 24 }, (_, index) => `t${index}`)

testAll(
  'many concurrent jobs publish their tables',
  async () => {
    const declared = tables.map((name) => ({ name, order: ['n'], fields: ['n:integer'].map(fieldOf) }))
    for (let round = 0; round < runsOf('PARALLEL_INGESTS'); round += 1) {
      const folder = await temporaryFolder()
      const [catalog, sources] = [path.join(folder, 'catalog.json'), path.join(folder, 'sources')]
      await writeFile(catalog, catalogText(declared))
      await mkdir(path.join(sources, 'd'), { recursive: true })
      for (const name of tables) await writeFile(path.join(sources, 'd', `${name}.csv`), 'n\n1\n2\n')
      const settings = { CATALOG: catalog, SOURCES: sources, WAREHOUSE: path.join(folder, 'warehouse') }
      const ended = await Promise.all(tables.map((name) => run('ingest', [`d/${name}`], settings)))
      const failed = ended.filter(
        ({ code, out }) => code !== 0 || !out.includes('1 published, 0 unchanged, 0 failed'),
      )
      expect(failed).toEqual([])
    }
  },
  3_600_000,
)
