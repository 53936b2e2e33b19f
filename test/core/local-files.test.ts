import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { LocalFiles } from '../../core/warehouse/stores/local-files.ts'
import type { PinnedFile } from '../../core/warehouse/stores/store.ts'
import { temporaryFolder } from '../support/workshop.ts'
import { until } from '../support/until.ts'

const fileOf = (key: string, text: string): PinnedFile => ({
  key,
  bytes: Buffer.byteLength(text),
  sha256: createHash('sha256').update(text).digest('hex'),
})

/** A warehouse of some files, and what was asked of it. */
async function elsewhere(files: Record<string, string>, bytesMax: number) {
  const folder = path.join(await temporaryFolder(), 'here')
  const asked: string[] = []
  const faults: (() => void)[] = []
  const answers = new Map(Object.entries(files))
  const open = (): LocalFiles =>
    new LocalFiles({
      folder,
      bytesMax,
      read: async function* (key) {
        asked.push(key)
        faults.shift()?.()
        yield Buffer.from(answers.get(key) ?? 'nothing')
      },
    })
  const held = (...keys: string[]): PinnedFile[] => keys.map((key) => fileOf(key, files[key] ?? ''))
  return { folder, asked, faults, answers, open, held, local: open() }
}

const text = (local: LocalFiles, key: string): Promise<string> => readFile(local.placeOf(key), 'utf8')

test('a file is fetched once, however many readers request it, and stays local', async () => {
  const { local, asked, held } = await elsewhere({ 'd/t/1/a': 'aaaa' }, 100)
  const holds = await Promise.all([1, 2, 3].map(() => local.hold(held('d/t/1/a'))))
  expect([await text(local, 'd/t/1/a'), asked, local.bytes]).toEqual(['aaaa', ['d/t/1/a'], 4])
  for (const release of holds) release()
  await local.hold(held('d/t/1/a'))
  expect(asked).toEqual(['d/t/1/a'])
})

test('the least recently used file is evicted first, and never a pinned one', async () => {
  const files = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`d/t/1/${name}`, name.repeat(10)]))
  const { local, asked, held } = await elsewhere(files, 25)
  const here = (): string[] => Object.keys(files).filter((key) => existsSync(local.placeOf(key)))
  const release = await local.hold(held('d/t/1/a'))
  for (const key of ['d/t/1/b', 'd/t/1/c', 'd/t/1/b', 'd/t/1/d']) (await local.hold(held(key)))()
  expect([here(), local.bytes]).toEqual([['d/t/1/a', 'd/t/1/d'], 20])
  release()
  ;(await local.hold(held('d/t/1/c')))()
  expect(here()).toEqual(['d/t/1/c', 'd/t/1/d'])
  expect(asked.map((key) => key.at(-1)).join('')).toBe('abcbdc')
})

test('a start is not disturbed by scratch folders that are created and removed meanwhile', async () => {
  const { folder, open } = await elsewhere({}, 5)
  const over = new AbortController()
  const works = [1, 2, 3, 4].map(async (work) => {
    const scratch = path.join(folder, `.scratch/${work}`)
    while (!over.signal.aborted) {
      await mkdir(path.join(scratch, 'work'), { recursive: true })
      await rm(scratch, { recursive: true })
    }
  })
  try {
    for (let start = 0; start < 100; start += 1) (await open().hold([]))()
  } finally {
    over.abort()
    await Promise.all(works)
  }
  expect(open().bytes).toBe(0)
})

test('a reader that needs room waits until a file is released', async () => {
  const { local, held } = await elsewhere({ 'd/t/1/a': 'aaaa', 'd/t/1/b': 'bbbb' }, 5)
  const release = await local.hold(held('d/t/1/a'))
  let has = false
  const waiting = local.hold(held('d/t/1/b')).then(() => (has = true))
  await until(() => existsSync(local.placeOf('d/t/1/a')))
  expect(has).toBe(false)
  release()
  await waiting
  expect(await text(local, 'd/t/1/b')).toBe('bbbb')
})

test('a file that is larger than LOCAL_GB allows is refused at once', async () => {
  const { local, asked, held } = await elsewhere({ 'd/t/1/a': 'aaaa' }, 3)
  await expect(local.hold(held('d/t/1/a'))).rejects.toThrow(
    'it has 4 bytes, and LOCAL_GB allows 3 for all local copies: raise it',
  )
  expect(asked).toEqual([])
})

test('wrong bytes are fetched again, and never served', async () => {
  const { local, asked, answers, held } = await elsewhere({ 'd/t/1/a': 'aaaa' }, 100)
  answers.set('d/t/1/a', 'aaab')
  await expect(local.hold(held('d/t/1/a'))).rejects.toThrow('differs from the published one')
  expect([asked.length, existsSync(local.placeOf('d/t/1/a')), local.bytes]).toEqual([2, false, 0])
  answers.set('d/t/1/a', 'aaaa')
  await local.hold(held('d/t/1/a'))
  expect(await text(local, 'd/t/1/a')).toBe('aaaa')
})

test('a store failure is reported, and the next reader tries again', async () => {
  const { local, faults, held } = await elsewhere({ 'd/t/1/a': 'aaaa' }, 100)
  faults.push(() => {
    throw new Error('the line is cut')
  })
  await expect(local.hold(held('d/t/1/a'))).rejects.toThrow(
    'd/t/1/a is not on this machine, and cannot be fetched: the line is cut',
  )
  await local.hold(held('d/t/1/a'))
  expect(await text(local, 'd/t/1/a')).toBe('aaaa')
})

test.each<[title: string, change: (place: string, local: LocalFiles) => Promise<void>]>([
  ['changed by others', (place) => writeFile(place, 'xxxx')],
  ['cut short', (place) => writeFile(place, 'aa')],
  [
    'damaged and marked for another verification',
    async (place, local) => {
      await writeFile(place, 'xxxx')
      local.distrust('d/t/1')
    },
  ],
])('a local file that is %s is fetched again', async (_what, change) => {
  const { local, asked, held } = await elsewhere({ 'd/t/1/a': 'aaaa' }, 100)
  ;(await local.hold(held('d/t/1/a')))()
  await change(local.placeOf('d/t/1/a'), local)
  await local.hold(held('d/t/1/a'))
  expect([await text(local, 'd/t/1/a'), asked.length, local.bytes]).toEqual(['aaaa', 2, 4])
})

test('local files survive a restart, except for incomplete and changed ones', async () => {
  const files = { 'd/t/1/a': 'aaaa', 'd/t/1/b': 'bbbb', 'd/t/1/c': 'cccc' }
  const { local, open, asked, held, folder } = await elsewhere(files, 8)
  ;(await local.hold(held('d/t/1/a', 'd/t/1/b')))()
  await writeFile(local.placeOf('d/t/1/b'), 'xxxx')
  await mkdir(path.join(folder, 'd/u'), { recursive: true })
  await writeFile(path.join(folder, 'd/u/x.draft'), 'xxxx')
  const again = open()
  ;(await again.hold(held('d/t/1/a')))()
  expect([asked.length, again.bytes, existsSync(path.join(folder, 'd/u/x.draft'))]).toEqual([2, 8, false])
  await again.hold(held('d/t/1/b'))
  expect([asked.length, await text(again, 'd/t/1/b')]).toEqual([3, 'bbbb'])
  // Files of an earlier process count, and are evicted like others.
  await again.hold(held('d/t/1/c'))
  expect([again.bytes, existsSync(again.placeOf('d/t/1/a'))]).toEqual([8, false])
})
