import { setTimeout } from 'node:timers/promises'
import { numbered, oneTable, rows, startWorkers } from './support/one-table.ts'
import { moduleAt, startScript, startServer } from './support/programs.ts'
import { testAll } from './support/runs.ts'
import { until } from './support/until.ts'
import { workersOf } from './support/workers.ts'

/** A process whose event loop is stuck ends, so that starting another. */

/** Runs code under a watchdog of `seconds`. */
const watched = (seconds: number, code: string) =>
  startScript(
    `import { startWatchdog } from '${moduleAt('server/process/watchdog.js')}'; startWatchdog(console, ${seconds}); ${code}`,
  )

const busyFor = (ms: number): string => `{ const end = Date.now() + ${ms}; while (Date.now() < end); }`

test('a stuck process is killed after a line in the log', async () => {
  const { ended, out } = watched(2, `setTimeout(() => ${busyFor(30_000)}, 100)`)
  expect(await ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  expect(JSON.parse(out())).toMatchObject({
    level: 60,
    msg: expect.stringContaining('stuck for 2 s') as unknown,
  })
}, 60_000)

testAll(
  'a process that is busy but not stuck, or suspended, continues',
  async () => {
    // A machine that is busy itself may delay a beat by a second or two.
    const { child, ended, out } = watched(
      4,
      `
    let turns = 0
    console.log('begun')
    const busy = setInterval(() => { ${busyFor(300)}; turns += 1; if (turns === 16) { clearInterval(busy); console.log('done') } }, 10)`,
    )
    await until(() => out() !== '')
    child.kill('SIGSTOP')
    await setTimeout(6000)
    child.kill('SIGCONT')
    expect(await ended).toMatchObject({ code: 0 })
    expect(out()).toBe('begun\ndone\n')
  },
  60_000,
)

testAll(
  'a stuck worker is replaced, and a stuck server ends',
  async () => {
    const table = await oneTable(numbered(10, 'n'), ['n:integer'])
    const settings = {
      ...table.settings,
      NODE_OPTIONS: `--import=${moduleAt('test/support/stuck-on-signal.js')}`,
    }
    const [several, alone] = await Promise.all([startWorkers(settings, 2), startServer(settings)])
    const [stuck = 0, sibling] = workersOf(several.pid)
    process.kill(stuck, 'SIGUSR2')
    process.kill(alone.pid, 'SIGUSR2')
    await until(() => workersOf(several.pid).length === 2 && !workersOf(several.pid).includes(stuck))
    expect(workersOf(several.pid)).toContain(sibling)
    await several.says('"worker died; starting another"')
    for (let times = 0; times < 4; times += 1)
      expect((await fetch(`http://127.0.0.1:${several.port}${rows}`)).status).toBe(200)
    expect((await alone.ended).out).toContain('stuck for 10 s')
  },
  120_000,
)
