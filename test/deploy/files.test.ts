import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { settingRows } from '../../core/settings/rows.ts'
import { programPath } from '../support/installed.ts'
import { describeWith, pythonClients } from '../support/needs.ts'
import { oneTable } from '../support/one-table.ts'
import { freePort } from '../support/ports.ts'
import { describeAll, testAll } from '../support/runs.ts'
import { until } from '../support/until.ts'
import { temporaryFolder, testFolder } from '../support/workshop.ts'

/** The files that operators are given, by the programs that read them. */

const units = 'deploy/systemd'
const clients = process.env['ACERVO_CLIENTS'] ?? ''

async function ran(program: string, ...args: string[]): Promise<{ code: number; out: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args)
    return { code: 0, out: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, out: stdout + stderr }
  }
}

const setpriv = programPath('setpriv')
const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', '--bounding-set=-all']

/** Returns whether another user may run a command here; false if no other user is available. */
const mayNobody = async (...command: string[]): Promise<boolean> =>
  setpriv !== null && process.getuid?.() === 0 && (await ran(setpriv, ...nobody, ...command)).code === 0

const withUsers = describeWith(
  (await mayNobody(process.execPath, '--version')) && (await mayNobody('test', '-x', os.tmpdir())),
  'root, setpriv, and a Node and TMPDIR that other users may enter',
)

describe('the units of systemd', () => {
  test('let the server write nothing, and the ingest only the warehouse and its metrics', async () => {
    const [server, ingest, verify] = await Promise.all(
      ['acervo', 'acervo-ingest', 'acervo-verify'].map((name) =>
        readFile(`${units}/${name}.service`, 'utf8'),
      ),
    )
    for (const text of [server, ingest, verify]) expect(text).toMatch(/^ProtectSystem=strict$/m)
    for (const text of [server, verify]) expect(text).not.toMatch(/^ReadWritePaths=/m)
    expect(server).toMatch(/^ReadOnlyPaths=.*\/var\/lib\/acervo\b/m)
    expect(ingest?.match(/^ReadWritePaths=.*$/gm)).toEqual([
      'ReadWritePaths=/var/lib/acervo',
      'ReadWritePaths=-/var/lib/acervo-metrics',
    ])
  })
})

describe('the manifests for Kubernetes', () => {
  test('use existing settings, and define every name that they refer to', async () => {
    const documents = parseAllDocuments(await readFile('deploy/kubernetes/acervo.yaml', 'utf8')).map(
      (document) => document.toJS() as Record<string, unknown>,
    )
    const text = JSON.stringify(documents)
    const names = [...text.matchAll(/"name":"([A-Z][A-Z_]+)"/g)].map(([, name]) => name)
    const settingNames = new Set<string | undefined>(Object.values(settingRows).map(({ name }) => name))
    expect(names.filter((name) => !settingNames.has(name))).toEqual([])
    expect(names.length).toBeGreaterThan(5)
    const given = documents.map(
      ({ kind, metadata }) => `${String(kind)} ${(metadata as { name: string }).name}`,
    )
    expect(given.toSorted()).toEqual([
      'ConfigMap acervo-settings',
      'CronJob acervo-ingest',
      'Deployment acervo',
      'Deployment acervo-redis',
      'HorizontalPodAutoscaler acervo',
      'Ingress acervo',
      'PodDisruptionBudget acervo',
      'Service acervo',
      'Service acervo-redis',
      'ServiceAccount acervo',
    ])
    // The server must export the metric for autoscaling.
    expect(await readFile('server/process/metrics/metrics.ts', 'utf8')).toContain('acervo_queue_length')
  })
})

test.each([
  ['systemd/acervo.service', /^ExecStart=(.*)$/gm, ['acervo serve']],
  ['systemd/acervo-ingest.service', /^ExecStart=(.*)$/gm, ['acervo ingest']],
  ['systemd/acervo-verify.service', /^ExecStart=(.*)$/gm, ['acervo verify']],
  ['container/Containerfile', /^CMD (.*)$/gm, ['["acervo", "serve"]']],
  ['container/compose.yaml', /command: (\[.*)$/gm, ["['acervo', 'ingest']"]],
  ['container/compose.cluster.yaml', /command: (\['acervo.*)$/gm, ["['acervo', 'ingest']"]],
  ['kubernetes/acervo.yaml', /^ *command: (\[.*)$/gm, ["['acervo', 'ingest']"]],
])('the command of %s is the installed program', async (file, pattern, commands) => {
  const text = await readFile(`deploy/${file}`, 'utf8')
  expect([...text.matchAll(pattern)].map(([, command]) => command)).toEqual(commands)
  expect(text).not.toContain('dist/server')
})

test('the containers have the version of this package', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  for (const file of ['container/compose.yaml', 'container/compose.cluster.yaml', 'kubernetes/acervo.yaml']) {
    const text = await readFile(`deploy/${file}`, 'utf8')
    const named = [...text.matchAll(/acervo:(\d[\w.]*)/g)].map(([, tag]) => tag)
    expect([file, named.length > 1, new Set(named)]).toEqual([file, true, new Set([version])])
  }
})

async function statuses(port: number): Promise<number[]> {
  const base = '/api/v1/dataset/d/t'
  const ports: number[] = []
  for (const address of [
    `${base}/data/`,
    `${base}/data/?n=2`,
    `${base}/export/?n__gte=1`,
    '/files/warehouse.duckdb',
    '/en/',
  ]) {
    const answer = await fetch(`http://127.0.0.1:${port}${address}`, {
      headers: { Accept: 'text/html, */*' },
    })
    await answer.arrayBuffer()
    ports.push(answer.status)
  }
  return ports
}

const allWell = [200, 200, 200, 200, 200]

describe('the server', () => {
  let home: string
  let settings: Record<string, string>
  beforeAll(async () => {
    const table = await oneTable('n\n1\n2\n3\n', ['n:integer'])
    home = table.folder
    await mkdir(path.join(home, 'scratch'))
    settings = { ...table.settings, TMPDIR: path.join(home, 'scratch') }
    await chmod(path.join(home, 'scratch'), 0o777)
    for (const folder of [testFolder, home]) await chmod(folder, 0o755)
  })

  async function served(
    program: string,
    args: readonly string[],
    env: Record<string, string> = {},
    cwd = '.',
  ): Promise<number[]> {
    const port = await freePort()
    const child = spawn(program, args, {
      env: { PATH: process.env['PATH'] ?? '', ...settings, RATE_LIMITS: 'off', ...env, PORT: String(port) },
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    const ended = once(child, 'close')
    try {
      await until(() => output.includes('"serving"') || child.exitCode !== null)
      return await statuses(port)
    } finally {
      child.kill()
      await ended
    }
  }

  withUsers('with users', () => {
    testAll(
      'runs as a user who may write nothing but its scratch folder',
      async () => {
        const [checkout, copied] = [path.resolve('.'), path.join(home, 'program')]
        const isOpen = await mayNobody('test', '-r', `${checkout}/node_modules/express/package.json`)
        // Others may not enter a checkout below root's home, so they run a copy.
        const folder = isOpen ? checkout : copied
        if (!isOpen)
          for (const name of ['dist', 'package.json', 'node_modules'])
            await cp(name, path.join(folder, name), { recursive: true })
        const program = [process.execPath, path.join(folder, 'dist/server/process/main.js')]
        expect(await served(setpriv ?? '', [...nobody, ...program], {}, folder)).toEqual(allWell)
      },
      60_000,
    )
  })

  testAll(
    'runs under the permission model of Node, with access to files and addons only',
    async () => {
      const { allowedNodeEnvironmentFlags: flags } = process
      const flag = flags.has('--permission') ? '--permission' : '--experimental-permission'
      const read = [path.resolve('.'), home].map((folder) => `--allow-fs-read=${folder}/*`)
      const args = [
        flag,
        ...read,
        `--allow-fs-write=${home}/scratch/*`,
        '--allow-addons',
        ...(flags.has('--allow-net') ? ['--allow-net'] : []),
        'dist/server/process/main.js',
      ]
      expect(await served(process.execPath, args)).toEqual(allWell)
    },
    60_000,
  )
})

testAll(
  'the bill of materials lists what ships, with versions',
  async () => {
    const { code, out } = await ran('npm', 'run', '-s', 'sbom')
    expect(code).toBe(0)
    const listed = JSON.parse(out.slice(out.indexOf('{'), out.lastIndexOf('}') + 1)) as {
      components: { name: string; group?: string; version: string }[]
    }
    const names = new Set(
      listed.components.map(
        ({ name, group, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`,
      ),
    )
    const { dependencies, devDependencies } = JSON.parse(await readFile('package.json', 'utf8')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >
    for (const [name, version] of Object.entries(dependencies))
      expect([...names]).toContain(`${name}@${version}`)
    expect(names.has(`jest@${devDependencies['jest']}`)).toBe(false)
  },
  60_000,
)

describeAll('for the programs that read them,', () => {
  const analyze = programPath('systemd-analyze')
  const withSystemd = describeWith(analyze !== null, 'systemd-analyze (Debian: systemd)')
  const withLinters = describeWith(clients !== '', pythonClients)
  withSystemd('the units of systemd', () => {
    test('are valid, and give the programs few rights', async () => {
      const folder = await temporaryFolder()
      // The program and its folder need not be on this machine.
      for (const name of await readdir(units)) {
        const text = await readFile(path.join(units, name), 'utf8')
        await writeFile(
          path.join(folder, name),
          text
            .replace('WorkingDirectory=/var/lib/acervo', 'WorkingDirectory=/tmp')
            .replace('=acervo ', '=/bin/true '),
        )
      }
      const names = await readdir(folder)
      expect(names.toSorted()).toEqual([
        'acervo-ingest.service',
        'acervo-ingest.timer',
        'acervo-verify.service',
        'acervo-verify.timer',
        'acervo.service',
      ])
      for (const name of names) {
        expect([name, await ran(analyze ?? '', 'verify', path.join(folder, name))]).toEqual([
          name,
          { code: 0, out: '' },
        ])
        if (!name.endsWith('.service')) continue
        const { out } = await ran(analyze ?? '', 'security', '--offline=true', path.join(folder, name))
        const exposure = Number(/Overall exposure level for [\w.-]+: ([\d.]+)/.exec(out)?.[1])
        expect([name, exposure]).toEqual([name, expect.any(Number)])
        expect(exposure).toBeLessThan(2)
      }
    }, 60_000)
  })

  withLinters('the container files', () => {
    const hadolint = path.join(clients, 'hadolint')
    test('include a Containerfile that passes its linter', async () => {
      expect(await ran(hadolint, 'deploy/container/Containerfile')).toEqual({ code: 0, out: '' })
    })

    const dclint = path.join(clients, '../node_modules/.bin/dclint')
    test('include a Compose file that passes its linter', async () => {
      const { code, out } = await ran(dclint, '--max-warnings=0', 'deploy/container')
      expect([code, out]).toEqual([0, expect.any(String)])
    })
  })

  withLinters('the manifests for Kubernetes', () => {
    test('match their schemas, without further keys', async () => {
      const validate = path.join(clients, 'kubernetes-validate')
      const { code, out } = await ran(validate, '--strict', '--no-warn', 'deploy/kubernetes/acervo.yaml')
      expect([code, out.match(/ passed for resource /g)?.length]).toEqual([0, 10])
    }, 60_000)
  })
})
