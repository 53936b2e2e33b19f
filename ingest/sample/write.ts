import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { StartError } from '../../core/errors.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import { TableFailure } from '../base/rejects.ts'
import { findFiles } from '../source/find.ts'
import { covid19 } from './covid19.ts'
import { electionTables } from './elections.ts'
import { genericSample } from './generic.ts'
import { governmentTables } from './government.ts'
import { otherTables } from './others.ts'
import type { Cell } from './samples.ts'

const described = new Map(
  [covid19, electionTables, governmentTables, otherTables].flat().map((sample) => [sample.id, sample]),
)

/** Ledger with the hash of every sample, so that other sources are never overwritten. */
const ledgerName = 'SAMPLES.txt'
const ledgerHead = '# Synthetic sources, which `acervo sample` overwrites; SHA-256 and name of each.'
const chunkCharacters = 256 * 1024

/** Returns whether a folder contains a possible source. */
export async function hasSources(folder: string): Promise<boolean> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.some((name) => /\.csv(\.\w+)?$/.test(name))
}

/**
 * Writes samples as `<dataset>/<table>.csv.gz`, yielding each table with its number of rows.
 * @throws StartError before anything is written, if it would replace a source that is not a sample
 */
export async function* writeSamples(
  folder: string,
  tables: readonly Table[],
  scale: number,
): AsyncGenerator<{ table: Table; rows: number }> {
  const ledger = await readLedger(folder)
  for (const table of tables) await requireSample(folder, table, ledger)
  for (const table of tables) {
    const rows = await writeSample(folder, table, scale)
    const name = sampleName(table)
    ledger.set(name, await hashOf(path.join(folder, name)))
    const lines = [...ledger].map(([file, hash]) => `${hash}  ${file}`)
    await writeFile(path.join(folder, ledgerName), `${[ledgerHead, ...lines].join('\n')}\n`)
    yield { table, rows }
  }
}

function sampleName(table: Table): string {
  return `${tableId(table)}.csv.gz`
}

/** Returns hashes by file name. */
async function readLedger(folder: string): Promise<Map<string, string>> {
  const text = await readFile(path.join(folder, ledgerName), 'utf8').catch(() => '')
  return new Map(
    [...text.matchAll(/^([0-9a-f]{64}) {2}(.+)$/gm)].map(([, hash = '', name = '']) => [name, hash]),
  )
}

async function requireSample(
  folder: string,
  table: Table,
  ledger: ReadonlyMap<string, string>,
): Promise<void> {
  for (const place of await findFiles(folder, table).catch(asStartError)) {
    if (place.kind !== 'here') continue
    const name = path.posix.join(table.dataset, place.name)
    if (ledger.get(name) === (await hashOf(place.path))) continue
    throw new StartError(
      `${place.namedPath} was not written by \`acervo sample\`, or was changed since, and would be overwritten: move it, or set SOURCES to another folder`,
    )
  }
}

function asStartError(error: unknown): never {
  throw error instanceof TableFailure ? new StartError(error.message, { cause: error }) : error
}

/** Writes the sample of a table, and returns its number of rows. */
async function writeSample(folder: string, table: Table, scale: number): Promise<number> {
  const sample = described.get(tableId(table)) ?? genericSample(table)
  const rows = Math.max(1, Math.round(sample.rows * scale))
  await writeSource(path.join(folder, sampleName(table)), table, sample.make(rows))
  return rows
}

/** Writes rows as the source of a table, a CSV in gzip, which appears only when it is complete. */
export async function writeSource(
  file: string,
  table: Table,
  rows: Iterable<Record<string, Cell>>,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  const gzip = createGzip({ level: constants.Z_BEST_SPEED })
  await pipeline(Readable.from(chunks(table, rows)), gzip, createWriteStream(`${file}.draft`))
  await rename(`${file}.draft`, file)
}

function* chunks(table: Table, rows: Iterable<Record<string, Cell>>): Generator<Buffer> {
  const names = table.fields.map((field) => field.name)
  let text = `${names.map(quoted).join(',')}\n`
  for (const row of rows) {
    text += `${names.map((name) => quoted(row[name] ?? null)).join(',')}\n`
    if (text.length > chunkCharacters) {
      yield Buffer.from(text)
      text = ''
    }
  }
  yield Buffer.from(text)
}

function quoted(cell: Cell): string {
  const text = cell === null ? '' : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
