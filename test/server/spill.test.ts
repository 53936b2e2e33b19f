import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/workshop.ts'

const run = promisify(execFile)

/** Opens a folder of its own, in another process, as the built server does. */
const script = (then: string): string =>
  `const { openSpill } = await import('./dist/server/engine/spill.js'); const folder = await openSpill(); ${then}`

test('a folder stays with the process that lives, however much memory is swept meanwhile', async () => {
  const env = { PATH: process.env['PATH'], TMPDIR: await temporaryFolder() }
  const sweeping = `for (let n = 0; n < 5; n += 1) { gc(); await new Promise((go) => setTimeout(go, 20)) }
    console.log(folder); setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script(sweeping)], {
    env,
  })
  try {
    const [told] = (await once(child.stdout, 'data')) as [Buffer]
    const folder = String(told).trim()
    // Another one removes what nobody holds any more.
    await run(process.execPath, ['--input-type=module', '-e', script('process.exit(0)')], { env })
    await expect(access(`${folder}/lock`)).resolves.toBeUndefined()
  } finally {
    child.kill()
  }
})
