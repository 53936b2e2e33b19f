import { CachedStore } from '../../core/warehouse/stores/cached-store.ts'
import { MemoryStore } from './memory-store.ts'
import { temporaryFolder } from '../support/workshop.ts'

/** Texts of a store that is sometimes unavailable. */

const manifest = 'd/t/20260102T030405Z-0123456789ab/manifest.json'

test('the cache returns a known text while the whole store is unavailable, but not if only one read fails', async () => {
  const store = new MemoryStore(await temporaryFolder())
  const remembered = new CachedStore(store)
  await store.put('d/t/current.json', 'one')
  await store.put(manifest, 'of one')
  expect(String(await remembered.get(manifest))).toBe('of one')
  expect(String(await remembered.get('d/t/current.json'))).toBe('one')

  await store.put('d/t/current.json', 'two')
  const read = jest.spyOn(store, 'get').mockRejectedValue(new Error('reset'))
  await expect(remembered.get('d/t/current.json')).rejects.toThrow('reset')
  expect(String(await remembered.get(manifest))).toBe('of one')

  const stat = jest.spyOn(store, 'stat').mockRejectedValue(new Error('refused'))
  expect(String(await remembered.get('d/t/current.json'))).toBe('one')

  read.mockRestore()
  stat.mockRestore()
  expect(String(await remembered.get('d/t/current.json'))).toBe('two')
})
