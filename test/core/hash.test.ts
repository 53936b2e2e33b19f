import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { chunksOf, hashOf } from '../../core/warehouse/hash.ts'
import { temporaryFolder } from '../support/workshop.ts'

const chunk = 1024 * 1024

test.each([0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 7])(
  'the sum of a file of %d bytes is that of all of them',
  async (bytes) => {
    const file = path.join(await temporaryFolder(), 'file')
    const content = randomBytes(bytes)
    await writeFile(file, content)
    expect(await hashOf(file)).toBe(createHash('sha256').update(content).digest('hex'))
  },
)

test('whoever leaves early leaves nothing open', async () => {
  const file = path.join(await temporaryFolder(), 'file')
  await writeFile(file, randomBytes(4 * chunk))
  for await (const piece of chunksOf(file)) {
    expect(piece).toHaveLength(chunk)
    break
  }
  await expect(hashOf(path.join(path.dirname(file), 'none'))).rejects.toThrow('ENOENT')
})
