import { spawn, spawnSync } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
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

/** Publishes and serves the file of a folder until the end of the tests; returns a function that gets a page. */
async function serving(acervo: string, folder: string): Promise<(address: string) => Promise<string>> {
  const port = await freePort()
  const env = { ...process.env, PORT: String(port) }
  const child = spawn(acervo, ['rain.csv'], { cwd: folder, env, stdio: 'ignore' })
  endWithFile(() => child.kill('SIGTERM'))
  return async (address) => {
    for (let tries = 0; tries < 300; tries += 1) {
      const response = await fetch(`http://localhost:${port}${address}`).catch(() => null)
      if (response?.ok === true) return await response.text()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`no answer at ${address}`)
  }
}

test('the npm package contains only files that run, and serves a CSV file by one command', async () => {
  const folder = await temporaryFolder()
  const [packed] = JSON.parse(
    npm('pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  ) as Packed[]
  if (packed === undefined) throw new Error('nothing was packed')
  expect(packed.size).toBeLessThan(sizeMax)
  const others = packed.files.filter(
    ({ path: file }) =>
      !/^(dist\/(core|ingest|server)\/.*\.js|[\w.]+\.md|LICENSE|package\.json|core\/catalog\/catalog\.schema\.json|deploy\/\w+\/[\w.-]+|samples\/[\w-]+\/\w+\.csv)$/.test(
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
  const page = await serving(acervo, folder)
  expect(await page('/en/dataset/rain/rain/')).toContain('3.5')
  expect(await page('/en/dataset/rain/rain/sql/')).toContain(
    'SQL in the browser is not installed on this service',
  )
}, 300_000)

test('the catalog of this repository can be checked, ingested and verified like that of any project', async () => {
  const folder = await temporaryFolder()
  for (const name of ['catalog.yaml', 'catalog']) await cp(name, path.join(folder, name), { recursive: true })
  const program = path.resolve('dist/ingest/main.js')
  const run = (...args: readonly string[]): string =>
    spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' }).stdout
  run('sample', 'covid19/caso')
  expect(run('check', 'covid19')).toMatch(/^covid19\/caso: new, \d+ rows\n/m)
  expect(run('ingest', 'covid19')).toMatch(/^1 published, 0 unchanged, 0 failed$/m)
  expect(run('verify')).toMatch(/^1 snapshots read \(.*\), 0 damaged$/m)
})

test('the build steps of the container give a working program that includes the page for SQL', async () => {
  const folder = await temporaryFolder()
  const [source, target] = [path.join(folder, 'source'), path.join(folder, 'acervo')]
  // Copies the files of `COPY . .`; the dependencies for the build are those of this checkout.
  await Promise.all([source, target].map((ownFolder) => mkdir(ownFolder)))
  for (const name of [
    'package.json',
    'package-lock.json',
    'dist',
    'core',
    'deploy',
    'samples',
    'LICENSE',
    'README.md',
  ])
    await cp(name, path.join(source, name), { recursive: true })
  await symlink(path.resolve('node_modules'), path.join(source, 'node_modules'))
  const text = (await readFile('deploy/container/Containerfile', 'utf8')).replaceAll('\\\n', '')
  const [buildStage = ''] = text.split(/^FROM .*-slim$/m)
  let place = source
  for (const [, instruction, rest = ''] of buildStage.matchAll(/^(WORKDIR|RUN) (.*)$/gm)) {
    if (instruction === 'WORKDIR') place = rest === '/opt/acervo' ? target : source
    if (instruction === 'WORKDIR' || rest.startsWith('npm ci --no-audit')) continue
    const command = rest
      .replace('npm run -s build && ', '')
      .replaceAll('/opt/source', source)
      .replaceAll('=/opt', `=${folder}`)
      .replaceAll('/opt/', `${folder}/`)
      .replace('npm ci', 'npm ci --prefer-offline')
    const { status, stderr } = spawnSync('sh', ['-ec', command], { cwd: place, encoding: 'utf8' })
    expect({ command, status, stderr: status === 0 ? '' : stderr }).toMatchObject({ status: 0 })
  }
  const acervo = path.join(folder, 'program')
  await symlink(path.join(target, 'dist/ingest/main.js'), acervo)
  await writeFile(path.join(folder, 'rain.csv'), 'day,mm\n2026-01-01,3.5\n')
  const page = await serving(acervo, folder)
  expect(await page('/en/dataset/rain/rain/')).toContain('3.5')
  expect(await page('/en/dataset/rain/rain/sql/')).not.toContain('is not installed')
}, 300_000)
