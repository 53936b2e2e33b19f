import fc from 'fast-check'
import { fileNameOf } from '../../../server/routes/file-name.ts'
import type { Snapshot } from '../../../server/snapshots/snapshot.ts'

/** Names of downloaded files. */

const snapshot = {
  table: { dataset: 'covid19', name: 'caso' },
  manifest: { import_date: '2026-01-02T03:04:05.678Z' },
} as unknown as Snapshot

const nameOf = (query: string, page?: number): string =>
  fileNameOf(snapshot, { parameters: new Map(new URLSearchParams(query)) }, 'csv', page)

test.each([
  ['', 'covid19-caso-2026-01-02.csv'],
  ['format=csv&snapshot=x', 'covid19-caso-2026-01-02.csv'],
  ['state=SP', 'covid19-caso-state-SP-2026-01-02.csv'],
  ['state=SP&date__gte=2020-01-01', 'covid19-caso-state-SP-date__gte-2020-01-01-2026-01-02.csv'],
  ['city=São Paulo', 'covid19-caso-city-Sao-Paulo-XhG3hJ-2026-01-02.csv'],
  ['city=../../etc/passwd"\r\n', 'covid19-caso-city-etc-passwd-hash-2026-01-02.csv'],
  ['city=漢字', 'covid19-caso-city-hash-2026-01-02.csv'],
])('the query %j is in the file name %s', (query, name) => {
  expect(nameOf(query).replace(/-[A-Za-z0-9]{6}-(?=2026)/, '-hash-')).toBe(name.replace('XhG3hJ', 'hash'))
})

test('the file name of a page has its number', () => {
  expect(nameOf('state=SP', 3)).toBe('covid19-caso-state-SP-page-3-2026-01-02.csv')
})

test('any query has a file name that every system can save, and different queries have different file names', () => {
  const values = fc.string({ unit: 'binary', maxLength: 60 })
  fc.assert(
    fc.property(values, values, (first, second) => {
      const [name, another] = [first, second].map((value) =>
        nameOf(new URLSearchParams({ city: value }).toString()),
      )
      expect(name).toMatch(/^covid19-caso-[\w-]+-2026-01-02\.csv$/)
      expect(name?.length).toBeLessThan(90)
      expect(name === another).toBe(
        new URLSearchParams({ city: first }).get('city') ===
          new URLSearchParams({ city: second }).get('city'),
      )
    }),
  )
})
