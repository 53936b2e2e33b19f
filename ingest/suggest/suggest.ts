import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import { parseCatalog } from '../../core/catalog/load.ts'
import { Database } from '../../core/duckdb/database.ts'
import { quotedText } from '../../core/sql.ts'
import { badValues, drawWeights, plainSql, type Work } from '../convert/convert.ts'
import { matchHeader } from '../convert/match.ts'
import { silentProgress } from '../progress.ts'
import { rejectLine } from '../rejects.ts'
import type { Batch } from '../source/batches.ts'
import { readSource } from '../source/read.ts'
import type { PackedFile, PlacedFile, UnpackLimits } from '../source/member.ts'
import { membersOf } from '../source/members.ts'
import { aboutDataset } from './about.ts'
import { dialectOf, EncodingWitness, type Dialect } from './dialect.ts'
import { nullWords, suggestField, type SuggestedField } from './types.ts'

const sampleBytes = 1024 * 1024
const wordsShown = 10

/**
 * A catalog entry for a CSV that nobody has described, with the evidence as comments: all of its rows were read, and
 * the entry was tried on them.
 *
 * @param scratch an empty folder
 * @throws TableFailure where it is no CSV that can be read without guessing
 */
export async function suggest(file: string, scratch: string, limits: UnpackLimits): Promise<string> {
  const base = path.basename(file)
  const source: PlacedFile = {
    path: file,
    name: base,
    bytes: (await stat(file)).size,
    place: base,
    constants: new Map(),
  }
  const dialect = await dialectIn(source, limits)
  const names = namesFor(dialect)
  const form = tableOf(
    tableText(
      source.name,
      dialect,
      names,
      names.map(() => anyText),
      [''],
    ),
  )
  const batches: Batch[] = []
  const take = (batch: Batch): Promise<void> => Promise.resolve(void batches.push(batch))
  const read = await readSource([source], {
    table: form,
    progress: silentProgress,
    limits,
    taker: { folder: scratch, bytes: Infinity, take },
  })
  const [batch] = batches
  if (batch === undefined) throw new Error(`no batch of ${source.name}`)
  const database = await Database.open({
    memory: '500MB',
    threads: 2,
    scratch: path.join(scratch, 'spill'),
    folders: [scratch],
  })
  const db = await database.connect()
  try {
    const { fields: matched } = matchHeader(form, batch.header, new Set(), false)
    const work: Work = {
      db,
      table: form,
      fields: matched,
      columns: names.length,
      weights: drawWeights(matched),
      scratch,
    }
    const nulls = ['', ...(await nullWordsIn(work, batch))]
    const fields: SuggestedField[] = []
    const words = nulls.filter((word) => word !== '').map(quotedText)
    const textOf = (index: number): string =>
      words.length === 0
        ? `c${index}`
        : `(case when c${index} not in (${words.join(', ')}) then c${index} end)`
    for (const [index, name] of names.entries()) {
      fields.push(
        await suggestField(
          db,
          plainSql(work, batch),
          textOf(index),
          /(^|_)(id|cod|codigo|cd|cep|cnpj|cpf|ibge)(_|$)/.test(name),
        ),
      )
    }
    const columns = fields.map((field, index) => ({ name: names[index] ?? '', field, text: textOf(index) }))
    const text = tableText(source.name, dialect, names, fields, nulls)
    const remarks = [
      `${source.name}: ${read.records.toLocaleString('en')} rows, ${names.length} columns`,
      ...dialect.evidence,
      ...(read.rejectedRows > 0
        ? [`${read.rejectedRows} rows cannot be read: ${read.rejects.slice(0, 3).map(rejectLine).join('; ')}`]
        : []),
      await trialOf(work, batch, tableOf(text)),
      ...(await aboutDataset(db, plainSql(work, batch), columns)),
    ]
    return `${remarks.map((line) => `# ${line}\n`).join('')}${text}`
  } finally {
    db.close()
    database.close()
  }
}

async function dialectIn(source: PackedFile, limits: UnpackLimits): Promise<Dialect> {
  const [member] = await membersOf(source, null, limits)
  if (member === undefined) throw new Error(`${source.name} holds nothing`)
  const witness = new EncodingWitness()
  const kept: Buffer[] = []
  let [bytes, all] = [0, 0]
  await member.read({
    onPacked: () => undefined,
    onText: (chunk) => {
      witness.look(chunk)
      all += chunk.length
      if (bytes < sampleBytes) kept.push(chunk.subarray(0, sampleBytes - bytes))
      bytes = Math.min(sampleBytes, bytes + chunk.length)
      return Promise.resolve()
    },
  })
  const { encoding, evidence } = witness.encoding
  return dialectOf(Buffer.concat(kept), all === bytes, encoding, evidence)
}

/** Names of fields from a header: lower-case letters, digits and underscores, each once. */
function namesFor({ firstLine, hasHeader }: Dialect): string[] {
  const names: string[] = []
  for (const [index, cell] of firstLine.entries()) {
    const plain = hasHeader ? cell.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase() : ''
    const word = plain.replaceAll(/[^a-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '')
    const name = /^[a-z]/.test(word) ? word : `column_${index + 1}${word === '' ? '' : `_${word}`}`
    let free = name
    for (let number = index + 1; names.includes(free); number += 1) free = `${name}_${number}`
    names.push(free)
  }
  return names
}

const anyText: SuggestedField = { type: 'string', keys: [], evidence: '' }

/** The entry as YAML. */
function tableText(
  file: string,
  dialect: Dialect,
  names: readonly string[],
  fields: readonly SuggestedField[],
  nulls: readonly string[],
): string {
  const name = file
    .toLowerCase()
    .replace(/\.(csv|txt|tsv|gz|zst|zip)\b.*$/, '')
    .replaceAll(/[^a-z0-9_-]+/g, '_')
  const source = sourceKeys(dialect, names, fields, nulls).map(
    ([key, value]) => `    ${key}: ${JSON.stringify(value)}\n`,
  )
  const lines = fields.map(({ type, keys, evidence }, index) => {
    const all = [`name: ${names[index] ?? ''}`, `type: ${type}`, ...keys]
    return `    - { ${all.join(', ')} }${evidence === '' ? '' : ` # ${evidence}`}\n`
  })
  return [
    `- name: ${nameText(name)}\n`,
    '  order: [] # such as [date desc, state]; without it the rows keep the order of the source\n',
    source.length === 0 ? '' : `  source:\n${source.join('')}`,
    '  fields:\n',
    ...lines,
  ].join('')
}

/** Quoted where YAML would read a number. */
function nameText(name: string): string {
  if (!/^[a-z0-9]/.test(name)) return 'table'
  return /^[a-z]/.test(name) ? name : JSON.stringify(name)
}

function sourceKeys(
  { encoding, delimiter, quote, skipLines, firstLine, hasHeader }: Dialect,
  names: readonly string[],
  fields: readonly SuggestedField[],
  nulls: readonly string[],
): [key: string, value: unknown][] {
  const most = (of: (field: SuggestedField) => string | undefined): string | undefined =>
    fields.map(of).find((value) => value !== undefined)
  const booleans = fields.find((field) => field.booleans !== undefined)?.booleans
  const renamed = firstLine.flatMap((cell, index) =>
    hasHeader && cell !== names[index] ? [[cell, names[index] ?? '']] : [],
  )
  const keys: [string, unknown, boolean][] = [
    ['encoding', encoding, encoding !== 'utf-8'],
    ['delimiter', delimiter, delimiter !== ','],
    ['quote', quote ?? 'none', quote !== '"'],
    ['decimal', ',', fields.some(({ hasDecimalComma }) => hasDecimalComma)],
    ['date', most(({ dateFormat }) => dateFormat), most(({ dateFormat }) => dateFormat) !== undefined],
    [
      'datetime',
      most(({ datetimeFormat }) => datetimeFormat),
      most(({ datetimeFormat }) => datetimeFormat) !== undefined,
    ],
    ['nulls', nulls, nulls.length > 1],
    ['booleans', booleans && { true: [booleans[0]], false: [booleans[1]] }, booleans !== undefined],
    ['skip_lines', skipLines, skipLines > 0],
    ['header', names, !hasHeader],
    ['rename', Object.fromEntries(renamed), renamed.length > 0],
  ]
  return keys.flatMap(([key, value, isNeeded]) => (isNeeded ? [[key, value]] : []))
}

/** The least of a catalog around an entry. */
const around = `title: t
limits: { rows: [], catalog: [] }
families:
  v1: { prefix: /api, scheme: http, trailing_slash: true }
datasets:
  - slug: d
    name: d
    description: d
    author: { name: n, url: 'https://example.org/' }
    source: { name: n, url: 'https://example.org/' }
    license: { name: n, url: 'https://example.org/' }
    code_url: https://example.org/
    listed_in: []
    collected_at: 2000-01-01
    links: []
    tables:
`

/** The entry as the catalog would have it. */
function tableOf(text: string): Table {
  const catalog = parseCatalog(`${around}${text.replaceAll(/^/gm, '      ')}`, 'the suggestion')
  const [table] = [...(catalog.datasets.get('d')?.tables.values() ?? [])]
  if (table === undefined) throw new Error('the suggestion has no table')
  return table
}

async function nullWordsIn(work: Work, batch: Batch): Promise<string[]> {
  const counts = nullWords.map((word) => {
    const hits = Array.from(
      { length: work.columns },
      (_, index) => `coalesce(c${index} = ${quotedText(word)}, false)`,
    )
    return `count(*) filter (where ${hits.join(' or ')})`
  })
  const [row = []] = await work.db.rows(`select ${counts.join(', ')} from ${plainSql(work, batch)}`)
  return nullWords.filter((_word, index) => Number(row[index]) > 0)
}

async function trialOf(work: Work, batch: Batch, table: Table): Promise<string> {
  const fields = work.fields.map((matched, index) => ({
    ...matched,
    field: table.fields[index] ?? matched.field,
  }))
  const bad = await badValues({ ...work, table, fields }, batch)
  if (bad.count === 0) return 'tried on all rows: every value is as declared here'
  const shown = bad.values
    .slice(0, wordsShown)
    .map(({ field, text, reason }) => `${field} ${JSON.stringify(text)} ${reason}`)
  return `tried on all rows: ${bad.count} values are not as declared here: ${shown.join('; ')}`
}
