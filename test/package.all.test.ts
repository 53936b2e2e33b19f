import { spawn, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { endWithFile } from './support/each-file.ts'
import { freePort } from './support/ports.ts'
import { temporaryFolder } from './support/workshop.ts'

/** The package as npm makes and installs it. */

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

function npm(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

const sizeMax = 5_000_000

test('the package has only what runs, and serves a file in one command after it is installed', async () => {
  const folder = await temporaryFolder()
  const [packed] = JSON.parse(
    npm('pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  ) as Packed[]
  if (packed === undefined) throw new Error('nothing was packed')
  expect(packed.size).toBeLessThan(sizeMax)
  const others = packed.files.filter(
    ({ path: file }) =>
      !/^(dist\/(core|ingest|server)\/.*\.js|[\w.]+\.md|LICENSE|package\.json|core\/catalog\/catalog\.schema\.json)$/.test(
        file,
      ),
  )
  expect(others).toEqual([])

  const app = path.join(folder, 'app')
  npm(
    'install',
    '--prefix',
    app,
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    path.join(folder, packed.filename),
  )
  const acervo = path.join(app, 'node_modules/.bin/acervo')
  expect(spawnSync(acervo, ['--version'], { encoding: 'utf8' }).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)

  await writeFile(path.join(folder, 'rain.csv'), 'day,mm\n2026-01-01,3.5\n')
  const port = await freePort()
  const child = spawn(acervo, ['rain.csv'], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  })
  endWithFile(() => child.kill('SIGTERM'))
  const page = async (address: string): Promise<string> => {
    for (let tries = 0; tries < 300; tries += 1) {
      const response = await fetch(`http://localhost:${port}${address}`).catch(() => null)
      if (response?.ok === true) return await response.text()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`no answer at ${address}`)
  }
  expect(await page('/en/dataset/rain/rain/')).toContain('3.5')
  expect(await page('/en/dataset/rain/rain/sql/')).toContain(
    'SQL in the browser is not installed on this service',
  )
}, 300_000)
