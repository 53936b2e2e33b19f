import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { tableId, type Table } from '../core/catalog/catalog.ts'
import { randomFrom } from './random.ts'
import { randomValue } from './values.ts'

/** Makes any number of rows, from samples or at random, and writes their files. */

export type SourceRow = Readonly<Record<string, string | number>>

type SampleRow = Readonly<Record<string, string>>

interface Repetition {
  readonly row: SampleRow
  /** Index of the row in the sample; `copy` is the index of the copy. */
  readonly index: number
  readonly copy: number
  readonly rows: readonly SampleRow[]
  readonly copies: number
}

const dayMs = 86_400_000
const isoDay = (time: number): string => new Date(time).toISOString().slice(0, 'YYYY-MM-DD'.length)

/**
 * Yields the rows of a sample repeatedly, with new keys.
 * @param id `covid19/caso_full` or `socios-brasil/socios`
 */
export async function repeatedRows(id: keyof typeof variations, count: number): Promise<Iterable<SourceRow>> {
  const rows = parse(await readFile(`samples/${id}.csv`), { columns: true }) as SampleRow[]
  const copies = Math.ceil(count / rows.length)
  return repeat()
  function* repeat(): Generator<SourceRow> {
    for (let copy = 0, rowsLeft = count; copy < copies; copy += 1)
      for (const [at, row] of rows.entries())
        if (rowsLeft-- > 0) yield variations[id]({ row, index: at, copy, rows, copies })
  }
}

const variations = { 'covid19/caso_full': varyCase, 'socios-brasil/socios': varyPartner }

function varyCase({ row, copy, copies }: Repetition): SourceRow {
  const [weekDays, sampleWeeks] = [7, 16]
  // Grows with the square root, so that dates and places both multiply.
  const periodsPerPlace = Math.min(6, Math.max(1, Math.round(Math.sqrt(copies) / 14)))
  const shiftsPerPlace = weekDays * periodsPerPlace
  const [shift, placeNumber] = [copy % shiftsPerPlace, Math.floor(copy / shiftsPerPlace)]
  const [dayOfWeek, period] = [shift % weekDays, Math.floor(shift / weekDays)]
  const shiftDays = dayOfWeek + period * sampleWeeks * weekDays
  const shiftedDate = (date: string | undefined): string => isoDay(Date.parse(date ?? '') + shiftDays * dayMs)
  const isState = row['city'] === '' && placeNumber === 0
  const numberOf = (name: string): number => Number(row[name])
  const confirmed = numberOf('last_available_confirmed') + 7 * copy
  const deaths = numberOf('last_available_deaths') + (copy % 5)
  const population = numberOf('estimated_population_2019') + placeNumber
  const code = numberOf('city_ibge_code')
  const inventedCityCode = code * 100_000 + 90_000
  const cityCode = row['city'] === '' ? inventedCityCode : code
  return {
    ...row,
    date: shiftedDate(row['date']),
    last_available_date: shiftedDate(row['last_available_date']),
    order_for_place: numberOf('order_for_place') + shiftDays,
    ...(!isState && {
      place_type: 'city',
      city: `${row['city'] || (row['state'] ?? '')}${placeNumber === 0 ? '' : ` ${placeNumber}`}`,
      city_ibge_code: cityCode + placeNumber,
    }),
    last_available_confirmed: confirmed,
    last_available_confirmed_per_100k_inhabitants: ((confirmed / population) * 100_000).toFixed(5),
    new_confirmed: numberOf('new_confirmed') + (copy % 23),
    last_available_deaths: deaths,
    last_available_death_rate: (deaths / confirmed).toFixed(4),
    estimated_population_2019: population,
    is_last: String(row['is_last'] === 'true' && shift === shiftsPerPlace - 1),
  }
}

function varyPartner({ row, index, copy, rows }: Repetition): SourceRow {
  const mixedName = (name: string): string => {
    if (copy === 0) return row[name] ?? ''
    const middleRow = rows[(index + 31 * copy) % rows.length]
    const lastRow = rows[(index + 7 * Math.floor(copy / rows.length)) % rows.length]
    const [firstWord = ''] = (row[name] ?? '').split(' ')
    const middleWords = (middleRow?.[name] ?? '').split(' ').slice(1).join(' ')
    const lastWord = lastRow?.[name]?.split(' ').at(-1) ?? ''
    return `${firstWord} ${middleWords} ${lastWord}`
  }
  const cnpj = (BigInt(row['cnpj'] ?? '') + BigInt(copy) * 5_000_000_029n) % 10n ** 14n
  return {
    ...row,
    cnpj: String(cnpj).padStart(14, '0'),
    razao_social: mixedName('razao_social'),
    nome_socio: mixedName('nome_socio'),
  }
}

const nullShare = 0.05

export function* randomRows(table: Table, count: number): Generator<SourceRow> {
  const random = randomFrom(tableId(table))
  for (let index = 0; index < count; index += 1)
    yield Object.fromEntries(
      table.fields.map((field) => [
        field.name,
        random.chance(nullShare) ? '' : randomValue[field.type](random, field),
      ]),
    )
}

const chunkCharacters = 256 * 1024

/** Writes the source of a table, a gzipped CSV, which appears only when complete. */
export async function writeSource(file: string, table: Table, rows: Iterable<SourceRow>): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  const gzip = createGzip({ level: constants.Z_BEST_SPEED })
  await pipeline(Readable.from(chunks(table, rows)), gzip, createWriteStream(`${file}.draft`))
  await rename(`${file}.draft`, file)
}

function* chunks(table: Table, rows: Iterable<SourceRow>): Generator<Buffer> {
  const names = table.fields.map((field) => field.name)
  let text = `${names.join(',')}\n`
  for (const row of rows) {
    text += `${names.map((name) => quoted(String(row[name] ?? ''))).join(',')}\n`
    if (text.length > chunkCharacters) {
      yield Buffer.from(text)
      text = ''
    }
  }
  yield Buffer.from(text)
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
