import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { programPath } from '../support/installed.ts'
import { temporaryFolder } from '../support/workshop.ts'
import { describeWith, pythonClients } from '../support/needs.ts'

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
