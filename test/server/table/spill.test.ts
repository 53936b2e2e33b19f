import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { promisify } from 'node:util'
import { temporaryFolder } from '../../support/workshop.ts'
import { testAll } from '../../support/runs.ts'

const run = promisify(execFile)

/** Opens a folder of its own, in another process, as the built server does. */
const script = (then: string): string =>
  `const { openSpill } = await import('./dist/server/table/engine/spill.js'); const folder = await openSpill(); ${then}`

test('the folder of a running process stays when another process removes abandoned folders', async () => {
  const env = { PATH: process.env['PATH'], TMPDIR: await temporaryFolder() }
  const sweeping = `for (let n = 0; n < 5; n += 1) { gc(); await new Promise((go) => setTimeout(go, 20)) }
    console.log(folder); setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script(sweeping)], {
    env,
  })
  try {
    const [output] = (await once(child.stdout, 'data')) as [Buffer]
    const folder = String(output).trim()
    // Another one removes what nobody holds any more.
    await run(process.execPath, ['--input-type=module', '-e', script('process.exit(0)')], { env })
    await expect(access(`${folder}/lock`)).resolves.toBeUndefined()
  } finally {
    child.kill()
  }
})

testAll(
  'a new folder is not taken for an abandoned one',
  async () => {
    const env = { PATH: process.env['PATH'], TMPDIR: await temporaryFolder() }
    const node = (text: string): Promise<{ stdout: string }> =>
      run(process.execPath, ['--input-type=module', '-e', script(text)], { env })
    // Each further folder begins with a sweep.
    const sweeping = `const until = Date.now() + 4000; while (Date.now() < until) await openSpill()`
    const beginning = async (): Promise<boolean[]> => {
      const kept: boolean[] = []
      for (let time = 0; time < 6; time += 1) {
        const { stdout } = await node(`await new Promise((go) => setTimeout(go, 50))
        const { existsSync } = await import('node:fs'); console.log(existsSync(folder + '/lock')); process.exit(0)`)
        kept.push(stdout.trim() === 'true')
      }
      return kept
    }
    const [, ...kept] = await Promise.all([node(sweeping), beginning(), beginning(), beginning()])
    expect(kept.flat()).toEqual(Array.from({ length: 18 }, () => true))
  },
  60_000,
)

testAll(
  'a lock is held from the moment when its file appears',
  async () => {
    const home = await temporaryFolder()
    const node = async (text: string): Promise<string> => {
      const lines = `const { acquireLock } = await import('./dist/core/duckdb/file-lock.js')
      const { existsSync, writeFileSync } = await import('node:fs'); const home = '${home}'; ${text}`
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', lines])
      return stdout
    }
    const owner = `const held = []; for (let n = 0; n < 60; n += 1) held.push(await acquireLock(home + '/' + n))
    writeFileSync(home + '/over', ''); await new Promise((go) => setTimeout(go, 300)); console.log(held.length); process.exit(0)`
    // Looks at the next one that is not there yet, again and again.
    const program = `let taken = 0; for (let n = 0; n < 60 && !existsSync(home + '/over');) {
      if (!existsSync(home + '/' + n)) continue
      await acquireLock(home + '/' + n).then((release) => { taken += 1; release() }, () => undefined); n += 1
    } console.log(taken); process.exit(0)`
    expect(await Promise.all([node(owner), node(program)])).toEqual(['60\n', '0\n'])
  },
  60_000,
)
