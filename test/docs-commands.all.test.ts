import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { endWithFile } from './support/each-file.ts'
import { describeWith, objectStore } from './support/needs.ts'
import { hasObjectStore, startObjectStore } from './components/object-store.ts'
import { freePort } from './support/ports.ts'
import { temporaryFolder } from './support/workshop.ts'

/**
 * Runs every `sh` block of the docs as a reader does: the pages of a project one after the other, each in the
 * same bash, against a server that the page itself or the page before has started.
 */

/** Commands that another test or the CI script runs, by the pattern that finds them there. */
const elsewhere: readonly [command: RegExp, file: string, pattern: RegExp][] = [
  [/^make test$/, '.ci/run', /make test$/m],
  [/^make package$/, 'Makefile', /test\/package/],
  [/^npm install --global/, 'test/package.all.test.ts', /'install'/],
  [/^make test-all$/, '.ci/run', /make test-all$/m],
  [/^make bench$/, '.ci/run', /make bench\)/],
  [/^make audit$/, '.ci/run', /make audit$/m],
  [/^make sbom$/, 'test/deploy/files.test.ts', /'sbom'/],
  [/^make (test-long|test-cluster|bench-peers|format|fuzz|soak)/, 'Makefile', /^test-long:/m],
  [/^npm (run jest|ci|prune)/, 'Makefile', /npm ci/],
  [/^(docker|git) /, 'test/deploy/files.test.ts', /Containerfile/],
  [/^promtool /, 'test/alerts.test.ts', /promtool/],
  [/^sudo /, 'test/deploy/files.test.ts', /systemd/],
]

/** Replaces programs that need root, a network or hours, and keeps one server running in the background. */
const prelude = String.raw`
elsewhere() { echo "elsewhere: $*" >&3; }
serve() {
  local file="$PROJECT/server.pid" pid
  if [ -e "$file" ]; then pid="$(cat "$file")"; kill -- "-$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; fi
  setsid "$@" >"$PROJECT/server.log" 2>&1 & echo $! >"$file"
  for _ in $(seq 300); do command curl -sf "http://localhost:$PORT/readyz" >/dev/null && return; sleep 0.2; done
  cat "$PROJECT/server.log"; return 1
}
make() {
  case "$1" in
    serve) serve env make -s -o build serve ;;
    package | test* | bench* | format | fuzz | soak | audit | sbom) elsewhere make "$1" ;;
    *) command make -s -o build "$@" ;;
  esac
}
acervo() {
  case "$1" in
    serve | *.csv) serve node "$ROOT/dist/ingest/main.js" "$1" ;;
    *) node "$ROOT/dist/ingest/main.js" "$@" ;;
  esac
}
npm() {
  case "$*" in
    run\ jest* | ci | prune* | install*) elsewhere npm "$@" ;;
    root\ --global) mkdir -p "$PROJECT/packages"; ln -sfn "$ROOT" "$PROJECT/packages/acervo"; echo "$PROJECT/packages" ;;
    *) command npm "$@" ;;
  esac
}
sudo() { if [ "$1" = cp ]; then ls -d -- "${'$'}{@:2:$#-2}" >/dev/null; else elsewhere sudo "$@"; fi; }
git() { elsewhere git "$@"; }
docker() { elsewhere docker "$@"; }
promtool() { elsewhere promtool "$@"; }
cd() { case "$1" in /opt/*) ;; *) builtin cd "$@" ;; esac; }
curl() { command curl -sS -w '\n' --fail-with-body --retry 9 --retry-connrefused "$@"; }
`

/** Folder of a Python with the packages that some commands import. */
const clients = process.env['ACERVO_CLIENTS']
const searchPath = [clients ?? [], process.env['PATH'] ?? ''].flat().join(':')

/** Returns the `sh` blocks of a page; with the clients, also those of Python, as commands. */
const commandBlocks = (markdown: string): string[] =>
  [...markdown.matchAll(/^\x60{3}(sh|python)\n(.*?)^\x60{3}/gms)].flatMap(([, language, text = '']) =>
    language === 'sh' ? text : clients === undefined ? [] : `python3 - <<'PYTHON'\n${text}PYTHON\n`,
  )

interface Project {
  readonly folder: string
  readonly port: number
}

/** A folder with the built program, as in a clone after `make build`. */
async function newProject(): Promise<Project> {
  const folder = await temporaryFolder()
  for (const name of ['Makefile', 'package.json', 'catalog.yaml'])
    await copyFile(name, path.join(folder, name))
  for (const name of ['catalog', 'dist', 'node_modules', 'deploy', 'test'])
    await symlink(path.resolve(name), path.join(folder, name))
  await mkdir(path.join(folder, 'sources'))
  endWithFile(async () => {
    const pid = await readFile(path.join(folder, 'server.pid'), 'utf8').catch(() => null)
    if (pid !== null) process.kill(-Number(pid), 'SIGKILL')
  })
  return { folder, port: await freePort() }
}

interface Outcome {
  readonly code: number
  readonly output: string
  /** Commands that were left to other tests. */
  readonly others: string[]
}

async function runInBash({ folder, port }: Project, script: string): Promise<Outcome> {
  const others = path.join(folder, 'elsewhere.txt')
  await rm(others, { force: true })
  const text = script.replaceAll(/\b80[08]0\b/g, String(port)).replaceAll(/curl (.*)# 404.*$/gm, '! curl $1')
  const file = path.join(folder, 'commands.sh')
  await writeFile(file, `exec 3>>elsewhere.txt\n${prelude}\nset -euo pipefail\n${text}`)
  const env = {
    ...process.env,
    PATH: searchPath,
    PORT: String(port),
    ROOT: process.cwd(),
    PROJECT: folder,
    QUIET: '1',
    RATE_LIMITS: 'off',
  }
  const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
    execFile(
      'bash',
      [file],
      { cwd: folder, env, timeout: 240_000, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr })
      },
    )
  })
  const lines = await readFile(others, 'utf8').catch(() => '')
  return { code, output, others: lines.split('\n').filter((line) => line !== '') }
}

async function runPage(project: Project, page: string): Promise<Outcome & { page: string }> {
  const script = commandBlocks(await readFile(page, 'utf8')).join('\n')
  return { page, ...(await runInBash(project, script)) }
}

const docPage = (name: string): string => `docs/${name}.md`

const rain = 'date,station,millimetres\n2026-01-01,Salvador,12.5\n'
const longerSource = 'tail -n 1 sources/covid19/caso.csv >>sources/covid19/caso.csv'

/** Pages about the datasets of the catalog, with the commands that must run first. */
const pages: readonly (readonly [page: string, before?: string])[] = [
  [docPage('reference/pages'), 'acervo sample && acervo ingest'],
  [docPage('reference/settings')],
  [docPage('reference/api')],
  [docPage('reference/documents')],
  [docPage('reference/monitoring')],
  ...(clients === undefined ? [] : [[docPage('reference/format')] as const]),
  [docPage('reference/ingest')],
  [docPage('reference/commands')],
  [docPage('explanation/decisions')],
  [docPage('explanation/requests')],
  [docPage('explanation/verification')],
  [docPage('explanation/performance')],
  [docPage('explanation/capacity')],
  [docPage('how-to/totals')],
  [docPage('how-to/refresh')],
  [docPage('how-to/change-fields')],
  [docPage('how-to/remove-data')],
  [docPage('how-to/recover'), `${longerSource} && acervo ingest covid19/caso`],
  [docPage('how-to/containers')],
  [docPage('how-to/resources')],
  [docPage('how-to/backup')],
  [docPage('how-to/upgrade')],
  [docPage('tutorials/production-server')],
  ['CONTRIBUTING.md'],
  ['SECURITY.md'],
  ['README.md', `printf '${rain}' >rain.csv`],
]

const otherPages = [
  docPage('tutorials/first-dataset'),
  docPage('tutorials/own-portal'),
  docPage('how-to/messy-csv'),
  docPage('how-to/object-store'),
  docPage('reference/catalog'),
  docPage('reference/format'),
]

test('every page with commands is tested here', async () => {
  const names = (await readdir('docs', { recursive: true })).filter((name) => name.endsWith('.md'))
  const withCommands: string[] = []
  for (const page of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...names.map((name) => `docs/${name}`)])
    if (/^\x60{3}sh$/m.test(await readFile(page, 'utf8'))) withCommands.push(page)
  expect(new Set([...pages.map(([page]) => page), ...otherPages])).toEqual(new Set(withCommands))
})

test('the commands of pages about the shipped datasets run', async () => {
  const project = await newProject()
  for (const [page, before] of pages) {
    expect(await runInBash(project, before ?? ':')).toMatchObject({ code: 0 })
    const { code, output, others } = await runPage(project, page)
    expect({ page, code, output: code === 0 ? '' : output.slice(-2000) }).toEqual({
      page,
      code: 0,
      output: '',
    })
    for (const line of others) {
      const command = line.replace('elsewhere: ', '')
      const [, file = '', pattern = /$^/] = elsewhere.find(([matcher]) => matcher.test(command)) ?? []
      expect({ page, command, file }).not.toMatchObject({ file: '' })
      expect(await readFile(file, 'utf8')).toMatch(pattern)
    }
  }
}, 600_000)

/** The CSV file of a page, which the page shows. */
async function writeExample(page: string, file: string, encoding: 'utf8' | 'latin1'): Promise<void> {
  const [, csv] = /^```csv\n(.*?)^```/ms.exec(await readFile(page, 'utf8')) ?? []
  await writeFile(file, csv ?? '', encoding)
}

test('the commands of the tutorial, the README and the guide to messy files run', async () => {
  const project = await newProject()
  await rm(path.join(project.folder, 'sources'), { recursive: true })
  const tutorial = await runPage(project, docPage('tutorials/first-dataset'))
  expect(tutorial).toMatchObject({ code: 0 })
  const answers = [...tutorial.output.matchAll(/"count":\d+.*/g)].map(([answer]) => answer)
  const [, shown = ''] =
    /^```json\n(.*?)^```/ms.exec(await readFile(docPage('tutorials/first-dataset'), 'utf8')) ?? []
  expect(JSON.parse(`{${answers[0] ?? ''}`)).toEqual(JSON.parse(shown))
  expect(answers[1]).toMatch(/^"count":3,/)
  // One row of each kind changed.
  expect(answers[2]).toMatch(/^"count":3,.*"_old_millimetres":12\.5/)

  const guide = docPage('how-to/messy-csv')
  await writeExample(guide, path.join(project.folder, 'sales.csv'), 'latin1')
  const [first = '', several = ''] = commandBlocks(await readFile(guide, 'utf8'))
  const { code, output } = await runInBash(project, first)
  expect({ code, output: code === 0 ? '' : output.slice(-2000) }).toEqual({ code: 0, output: '' })
  expect(await readFile(guide, 'utf8')).toContain(/^ *(line 6 sums .*)$/m.exec(output)?.[1])
  const suggested = await runInBash(project, 'acervo suggest sales.csv 2>/dev/null')
  const [, entry = ''] = /^```yaml\n(.*?)^```/ms.exec(await readFile(guide, 'utf8')) ?? []
  expect(parse(entry)).toEqual(parse(suggested.output))
  const files =
    'cp sales.csv sources/sales-1.csv && rm -r sources/shop && mv catalog.yaml old.yaml && acervo init'
  expect(await runInBash(project, `${files}\n${several.split('\n')[0] ?? ''}`)).toMatchObject({ code: 0 })

  expect(await runInBash(project, `printf '${rain}' | gzip >daily.csv.gz`)).toMatchObject({ code: 0 })
  expect(await runPage(project, docPage('reference/catalog'))).toMatchObject({ code: 0 })
}, 600_000)

test('the tutorial about your own portal gives a portal with the chosen look and a valid catalog', async () => {
  const project = await newProject()
  const page = docPage('tutorials/own-portal')
  const { code, output } = await runPage(project, page)
  expect({ code, output: code === 0 ? '' : output.slice(-2000) }).toEqual({ code: 0, output: '' })
  const home = await (await fetch(`http://localhost:${project.port}/en/`)).text()
  for (const part of ['<h1>Porto Belo, open data</h1>', '<img src="', 'Passengers by month'])
    expect(home).toContain(part)
  // The entry of the page, merged into the one that was written.
  const file = path.join(project.folder, 'city/catalog.yaml')
  const catalog = parse(await readFile(file, 'utf8')) as { datasets: { slug: string; tables: Entry[] }[] }
  const [, text = ''] = /^```yaml\n(.*?)^```/ms.exec(await readFile(page, 'utf8')) ?? []
  const [shown] = parse(text) as (Entry & { tables: Entry[] })[]
  const datasets = catalog.datasets.map((dataset) => {
    if (dataset.slug !== shown?.['slug']) return dataset
    const tables = dataset.tables.map((table) => ({ ...table, ...shown.tables[0], fields: table['fields'] }))
    return { ...dataset, ...shown, tables }
  })
  await writeFile(file, stringify({ ...catalog, datasets }))
  expect(await runInBash(project, 'cd city && acervo check')).toMatchObject({ code: 0 })
}, 300_000)

type Entry = Readonly<Record<string, unknown>>

describeWith(hasObjectStore, objectStore)('the guide to object stores', () => {
  test('has commands that run', async () => {
    const store = await startObjectStore()
    const project = await newProject()
    const [commands = ''] = commandBlocks(await readFile(docPage('how-to/object-store'), 'utf8'))
    const script = commands
      .replace('s3://acervo/warehouse', store.address())
      .replace('https://store.example.org', store.endpoint)
    const keys = Object.entries(store.environment)
      .filter(([name]) => name !== 'AWS_ENDPOINT_URL_S3')
      .map(([name, value]) => `export ${name}=${value}\n`)
    const sample = 'acervo sample covid19/caso\n'
    const { code, output } = await runInBash(project, `${sample}${keys.join('')}${script}`)
    expect({ code, output: code === 0 ? '' : output.slice(-2000) }).toEqual({ code: 0, output: '' })
  }, 300_000)
})
