import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { StartError } from '../../core/errors.ts'
import { covid19 } from './covid19.ts'
import { electionTables } from './elections.ts'
import { genericSample } from './generic.ts'
import { governmentTables } from './government.ts'
import { otherTables } from './others.ts'
import type { Cell, SampleTable } from './samples.ts'

const described = new Map(
  [covid19, electionTables, governmentTables, otherTables].flat().map((sample) => [sample.id, sample]),
)

/** Marks a folder whose sources are samples, so that real ones are never written over. */
const marker = 'SAMPLES.txt'
const markerText = 'These sources are synthetic; `make sample` writes over them.\n'
const chunkCharacters = 256 * 1024

/** Whether a folder holds anything at all that could be a source. */
export async function hasSources(folder: string): Promise<boolean> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.some((name) => /\.csv(\.\w+)?$/.test(name))
}

/** @throws StartError where the folder holds sources that we did not write */
export async function claimFolder(folder: string): Promise<void> {
  const ours = await stat(path.join(folder, marker)).then(
    () => true,
    () => false,
  )
  if (!ours && (await hasSources(folder))) {
    throw new StartError(
      `${folder} holds sources that are not samples: set SOURCES to another folder for the samples`,
    )
  }
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, marker), markerText)
}

/** Writes the sample of a table as `<dataset>/<table>.csv.gz` -> number of rows. */
export async function writeSample(folder: string, table: Table, scale: number): Promise<number> {
  const sample = described.get(tableId(table)) ?? genericSample(table)
  const rows = Math.max(1, Math.round(sample.rows * scale))
  const file = path.join(folder, table.dataset, `${table.name}.csv.gz`)
  await mkdir(path.dirname(file), { recursive: true })
  const gzip = createGzip({ level: constants.Z_BEST_SPEED })
  await pipeline(Readable.from(chunks(sample, table, rows)), gzip, createWriteStream(`${file}.draft`))
  await rename(`${file}.draft`, file)
  return rows
}

function* chunks(sample: SampleTable, table: Table, rows: number): Generator<Buffer> {
  const names = table.fields.map((field) => field.name)
  let text = `${names.map(quoted).join(',')}\n`
  for (const row of sample.make(rows)) {
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
