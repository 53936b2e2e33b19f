import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { chunksOf, hashOf } from '../../core/warehouse/hash.ts'
import { describeWith } from '../support/needs.ts'
import { temporaryFolder } from '../support/workshop.ts'

/** Hashes of files. */

const chunk = 1024 * 1024

test.each([0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 7])(
  'a file of %d bytes has the hash of its content',
  async (bytes) => {
    const file = path.join(await temporaryFolder(), 'file')
    const content = randomBytes(bytes)
    await writeFile(file, content)
    expect(await hashOf(file)).toBe(createHash('sha256').update(content).digest('hex'))
  },
)

test.each<[title: string, onThread: string]>([
  ['large files are hashed in threads, which do not keep the program alive', ''],
  ['large files are hashed without threads if no thread starts', "thread.emit('error', new Error('none'))"],
])('the compiled module hashes correctly: %s', async (_what, onThread) => {
  const file = path.join(await temporaryFolder(), 'file')
  const content = randomBytes(9_000_000)
  await writeFile(file, content)
  const built = pathToFileURL(path.resolve('dist/core/warehouse/hash.js')).href
  const program = `import { hashOf, sumsOf } from ${JSON.stringify(built)}
    const [file] = process.argv.slice(1)
    let threads = 0
    process.on('worker', (thread) => {
      threads += 1
      ${onThread}
    })
    const sums = await Promise.all([hashOf(file), sumsOf(file), sumsOf(file)])
    const none = await hashOf(file + '-none').catch(({ code }) => code)
    console.log(JSON.stringify({ sums, threads, none }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, file])
  const [sha256, sha512] = ['sha256', 'sha512'].map((kind) => createHash(kind).update(content).digest('hex'))
  const sums = { bytes: content.length, sha256, sha512 }
  const hashes = JSON.parse(stdout) as { threads: number }
  expect(hashes).toEqual({ sums: [sha256, sums, sums], threads: expect.any(Number), none: 'ENOENT' })
  expect(hashes.threads).toBeGreaterThan(0)
})

/** Files that this process has open. */
async function openFiles(): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd')
  return Promise.all(descriptors.map((name) => readlink(path.join('/proc/self/fd', name)).catch(() => '')))
}

describeWith(process.platform === 'linux', '/proc')('a file', () => {
  test('whose chunks are not read to the end is closed', async () => {
    const file = path.join(await temporaryFolder(), 'file')
    await writeFile(file, randomBytes(4 * chunk))
    for await (const piece of chunksOf(file)) {
      expect(piece).toHaveLength(chunk)
      expect(await openFiles()).toContain(file)
      break
    }
    expect(await openFiles()).not.toContain(file)
  })
})

test('a missing file has no hash', async () => {
  await expect(hashOf(path.join(await temporaryFolder(), 'none'))).rejects.toThrow('ENOENT')
})
