import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describeWith, strace } from '../support/needs.ts'
import { isExhaustive, seed } from '../support/runs.ts'
import { program, table, versions, type Versions } from './support/versions.ts'

/** The built ingest, stopped at each of its system calls, and on a disk that is full. */

let versionsOf: Versions
beforeAll(async () => {
  versionsOf = await versions()
})

const hasStrace = spawnSync('strace', ['-V']).status === 0

/** Runs an ingest that strace stops, or that it makes fail, at the `when`th call of a kind. */
function ingestUnder(
  call: string,
  fault: string,
  when: number,
): { code: number | null; out: string; hit: boolean } {
  const log = path.join(versionsOf.folder, 'strace.log')
  const { status, signal, stdout, stderr } = spawnSync(
    'strace',
    [
      '-f',
      // Stops at these calls alone.
      '--seccomp-bpf',
      '-qq',
      '-o',
      log,
      '-e',
      `trace=${call}`,
      '-e',
      `inject=${call}:${fault}:when=${when}`,
      process.execPath,
      ...program,
    ],
    { env: versionsOf.environment(), encoding: 'utf8' },
  )
  return {
    code: status,
    out: stdout + stderr,
    hit:
      signal === 'SIGKILL' ||
      status === 137 ||
      /INJECTED/.test(spawnSync('cat', [log], { encoding: 'utf8' }).stdout),
  }
}

/** In short runs some of them are tried, from the first on: there are few of some kinds. */
function stepFrom(when: number): number {
  return isExhaustive ? 1 : 1 + ((seed + when) % 16)
}

describeWith(hasStrace, strace)('with a fault in a system call,', () => {
  // All that make what was written last, and what shows it.
  test.each(['fsync', 'rename', 'mkdir', 'unlink', 'rmdir'])(
    'an ingest that is killed at %s leaves the old snapshot or the new one',
    async (call) => {
      await versionsOf.write(1)
      expect(versionsOf.ingest().code).toBe(0)
      let [before, version, when, hits] = [await versionsOf.published(), 1000, 1, 0]
      for (; ; when += stepFrom(when)) {
        version += 1
        await versionsOf.write(version)
        const { hit } = ingestUnder(call, 'signal=KILL', when)
        const now = await versionsOf.published()
        expect([before, version]).toContain(now)
        before = now
        if (!hit || when >= 60) break
        hits += 1
      }
      expect(hits).toBeGreaterThan(0)
      await versionsOf.write(version + 1)
      expect(versionsOf.ingest().code).toBe(0)
      expect([await versionsOf.published(), await versionsOf.leftovers()]).toEqual([version + 1, []])
    },
    300_000,
  )

  test.each([
    ['fsync', 'error=EIO'],
    ['fsync', 'error=ENOSPC'],
    ['rename', 'error=EIO'],
    ['rename', 'error=ENOSPC'],
    ['openat', 'error=EMFILE'],
  ])(
    'a call of %s that fails with %s is reported, and leaves the old snapshot or the new one',
    async (call, fault) => {
      await versionsOf.write(1)
      expect(versionsOf.ingest().code).toBe(0)
      let [version, failed] = [2000, 0]
      const before = await versionsOf.published()
      // The calls at the start are Node's own; each of the rest is met at random places.
      for (const when of call === 'openat' ? [20, 60, 120, 200] : [1, 2, 3, 5]) {
        version += 1
        await versionsOf.write(version)
        const { code, out } = ingestUnder(call, fault, when)
        const now = await versionsOf.published()
        if (code !== 0) failed += 1
        // A run that only fails to clean up, or to note which files it hashed, warns and succeeds.
        const failures = out
          .split('\n')
          .filter((line) => !/hashes of its source were not stored|were not removed/.test(line))
        // DuckDB itself aborts at some calls.
        const isReported =
          /FAILED, |cannot be written|was not (updated|written|stored)|\bE[A-Z]{2,}|^terminate called/m.test(
            failures.join('\n'),
          )
        expect([isReported, out]).toEqual([code !== 0, out])
        // A failure after the pointer was moved leaves the table published, and is reported.
        expect([before, version]).toContain(now)
        await rm(path.join(versionsOf.warehouse, table.dataset, table.name, 'failure.json'), { force: true })
        if (now !== before) break
      }
      expect(failed).toBeGreaterThan(0)
    },
    120_000,
  )
})

const disk = path.join(os.tmpdir(), `acervo-disk-${process.pid}`)
mkdirSync(disk)
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]).status === 0
afterAll(() => {
  if (isMounted) spawnSync('umount', [disk])
  rmdirSync(disk)
})

describeWith(isMounted, 'the right to mount a small disk')('a full disk', () => {
  let onDisk: Versions
  beforeAll(async () => {
    onDisk = await versions(path.join(disk, 'warehouse'))
  })

  test('is reported, and changes nothing', async () => {
    await onDisk.write(1)
    expect(onDisk.ingest().code).toBe(0)
    const rows = Array.from(
      { length: 200_000 },
      (_, row) => `${row},${randomBytes(30).toString('base64')},DF`,
    )
    const text = `cnpj,razao_social,uf\n${rows.join('\n')}\n`
    await onDisk.writeText(text)
    const { code, out } = onDisk.ingest()
    expect([code, out]).toEqual([1, expect.stringMatching(/empresas: FAILED, .*(ENOSPC|[Nn]o space left)/)])
    expect([await onDisk.published(), await onDisk.leftovers()]).toEqual([1, []])
    await onDisk.write(2)
    expect(onDisk.ingest().code).toBe(0)
    expect(await onDisk.published()).toBe(2)
  }, 60_000)
})
