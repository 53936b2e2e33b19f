import { CatalogError, parseCatalog } from '../../../core/catalog/load.ts'

/** A catalog without faults. */
export const good = `title: T
description: D
notice: Sparingly.
limits:
  rows: [{ requests: 60, per: 1m }]
  catalog: []
families:
  v1: { prefix: /api/v1, scheme: http, trailing_slash: true }
datasets:
  - slug: d
    name: D
    description: D
    author: { name: A, url: 'https://example.org' }
    source: { name: A, url: 'https://example.org' }
    license: { name: A, url: 'https://example.org' }
    code_url: https://example.org
    listed_in: [v1]
    collected_at: 2020-02-29
    links: []
    tables:
      - name: t
        order: [date desc, city]
        filters: [date]
        search: [city]
        fields:
          - { name: date, type: date }
          - { name: city, type: string }
          - { name: value, type: decimal, precision: 10, scale: 3 }
`

/** Returns the error that `text` gives as a catalog, or null if it is right. */
export function catalogErrorOf(text: string): CatalogError | null {
  try {
    parseCatalog(text, 'c.yaml')
    return null
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    return error
  }
}

/** Returns the lines of `text`'s error that tell its faults: "file:line:column: fault". */
export const faultsOf = (text: string): string[] => catalogErrorOf(text)?.message.split('\n').slice(1) ?? []

/** One place of the right catalog, what stands there instead, and the faults that this has. */
export type Fault = [title: string, from: string, to: string, faults: unknown[]]

/** Checks that each change of the right catalog gives its faults, each with its place. */
export function testFaults(changes: Fault[]): void {
  test.each(changes)('tells %s with its place', (_what, from, to, faults) => {
    expect(good).toContain(from)
    expect(faultsOf(good.replace(from, to))).toEqual(faults)
  })
}
