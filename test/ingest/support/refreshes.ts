import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { allTables, type Table } from '../../../core/catalog/catalog.ts'
import { publishedOf } from '../../../core/warehouse/publish.ts'
import type { Outcome } from '../../../ingest/job/report.ts'
import type { IngestOptions } from '../../../ingest/run/options.ts'
import { verify, type Verified } from '../../../ingest/verify/verify.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'

/** A table whose source is replaced and ingested again, day after day. */

export const catalog = tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] })
export const address = '/api/v1/dataset/d/t/data/'

export const csv = (rows: number, text = 'x'): string =>
  `n,s\n${Array.from({ length: rows }, (_, n) => `${n},${text}\n`).join('')}`
export const onDay = (day: number) => ({ now: () => new Date(Date.UTC(2026, 0, day)) })
export const tableOf = ({ catalog: otherCatalog }: Workshop): Table => allTables(otherCatalog)[0] as Table

export async function shopWith(...texts: readonly string[]): Promise<Workshop> {
  const shop = await workshop(catalog)
  for (const [index, text] of texts.entries()) await refresh(shop, text, { ...onDay(index + 1) })
  return shop
}

export async function refresh(
  shop: Workshop,
  text: string,
  options: Partial<IngestOptions> = {},
): Promise<Outcome> {
  await shop.write('d/t.csv', text)
  const [outcome] = await shop.ingest(options)
  return outcome as Outcome
}

export const rowsOf = async (shop: Workshop): Promise<number | undefined> =>
  (await publishedOf(shop.store, tableOf(shop)))?.rows

/** Each file of the warehouse that a job published, locks, scratch and what it noted for itself aside. */
export async function publishedFiles(shop: Workshop): Promise<string[]> {
  const entries = await readdir(path.join(shop.warehouse, 'd'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !['verified.json', 'hashed.json'].includes(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
}

export const faultsOf = async (shop: Workshop): Promise<Verified[]> => {
  const checks: Verified[] = []
  for await (const check of verify(shop.store, [tableOf(shop)])) checks.push(check)
  return checks.filter(({ fault }) => fault !== null)
}

/** Flips a bit of a file, in the byte at a place. */
export async function flip(file: string, at = 40): Promise<void> {
  const bytes = await readFile(file)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(file, bytes)
}
