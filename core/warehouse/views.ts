import { link, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { describeField, type Dataset, type Field, type Table } from '../catalog/catalog.ts'
import { typeRow } from '../catalog/field-types.ts'
import type { Connection } from '../duckdb/connection.ts'
import { Database } from '../duckdb/database.ts'
import type { Manifest } from './manifest.ts'
import { quotedName, quotedText } from '../sql.ts'
import { writeVersionMacros } from './version-macros.ts'

export interface PublishedTable {
  readonly dataset: Dataset
  readonly table: Table
  readonly manifest: Manifest
  readonly earlier: readonly Manifest[]
}

interface ViewsOptions {
  /** Absolute local folder with the parts; null if they are remote. */
  readonly warehouse: string | null
  /** Prefix of `/<dataset>/<table>/<snapshot>/<part>`: a folder or an address. */
  readonly base: string
  readonly scratch: string
}

/** A table whose parts are unreadable; the other tables have views. */
export interface OmittedTable {
  readonly published: PublishedTable
  readonly error: unknown
}

/** Location of the parts, for users who have moved them: `set variable acervo_files = '/mnt/warehouse'`. */
const baseVariable = 'acervo_files'

/**
 * Writes a DuckDB file with a schema per dataset: views of the tables, comments from the catalog, and macros
 * for versions. Views find the parts by the variable `acervo_files`. DuckDB reads the parts when it creates
 * a view: meanwhile, the variable is the local warehouse, or a folder of empty stand-ins for remote parts.
 * @returns tables without views, and why
 */
export async function writeViews(
  file: string,
  tables: readonly PublishedTable[],
  { warehouse, base, scratch }: ViewsOptions,
): Promise<OmittedTable[]> {
  const omittedTables: OmittedTable[] = []
  await rm(file, { force: true })
  const localBase = warehouse ?? path.join(scratch, 'stand-ins')
  const database = await Database.open({
    file,
    memory: '100MB',
    threads: 1,
    scratch,
    folders: [localBase, path.dirname(file)],
  })
  try {
    const db = await database.connect()
    try {
      await db.rows(`set variable ${baseVariable} = ${quotedText(localBase)}`)
      for (const published of tables) {
        // In one transaction, since each commit waits for the disk.
        await db.rows('begin')
        try {
          if (warehouse === null) await writeStandIns(db, published, localBase)
          await writeView(db, published, base)
          await writeVersionMacros(db, [published.manifest, ...published.earlier], (pathSql) =>
            locationSql(pathSql, base),
          )
          await db.rows('commit')
        } catch (error) {
          await db.rows('rollback')
          omittedTables.push({ published, error })
        }
      }
      await db.rows('checkpoint')
    } finally {
      db.close()
    }
  } finally {
    database.close()
    if (warehouse === null) await rm(localBase, { recursive: true, force: true })
  }
  return omittedTables
}

async function writeStandIns(
  db: Connection,
  { table, manifest: { fields, parts, snapshot } }: PublishedTable,
  folder: string,
): Promise<void> {
  const snapshotFolder = path.join(folder, table.dataset, table.name, snapshot)
  await mkdir(snapshotFolder, { recursive: true })
  const columns = fields.map(({ name, stored }) => `null::${stored} as ${quotedName(name)}`)
  const [first, ...furtherParts] = parts.map(({ file }) => path.join(snapshotFolder, file))
  if (first === undefined) return
  await db.rows(`copy (select ${columns.join(', ')} where false) to ${quotedText(first)} (format parquet)`)
  for (const copy of furtherParts) await link(first, copy)
}

async function writeView(db: Connection, published: PublishedTable, base: string): Promise<void> {
  const { dataset, table } = published
  const name = `${quotedName(dataset.slug)}.${quotedName(table.name)}`
  await db.rows(`create schema if not exists ${quotedName(dataset.slug)}`)
  await db.rows(`create view ${name} as ${rowsSql(published, base)}`)
  await db.rows(`comment on view ${name} is ${quotedText(aboutTable(published))}`)
  await commentFields(db, name, table.fields)
}

/** For each comment, DuckDB copies its data about all columns. */
const commentedFieldsMax = 500

async function commentFields(db: Connection, name: string, fields: readonly Field[]): Promise<void> {
  if (fields.length > commentedFieldsMax) return
  for (const { name: column, type, ...texts } of fields) {
    const description = describeField(texts)
    const text = description === '' ? type : `${description} (${type})`
    await db.rows(`comment on column ${name}.${quotedName(column)} is ${quotedText(text)}`)
  }
}

function rowsSql({ dataset, table, manifest }: PublishedTable, base: string): string {
  const names = table.fields.map(({ name }) => quotedName(name))
  if (manifest.parts.length === 0) {
    const nothing = table.fields.map(
      (field, index) => `null::${typeRow(field.type).stored(field)} as ${names[index] ?? ''}`,
    )
    return `select ${nothing.join(', ')} where false`
  }
  const folder = `/${dataset.slug}/${table.name}/${manifest.snapshot}`
  const parts = manifest.parts.map(({ file }) => locationSql(quotedText(`${folder}/${file}`), base))
  return `select ${names.join(', ')} from read_parquet([${parts.join(', ')}])`
}

function locationSql(pathSql: string, base: string): string {
  return `coalesce(getvariable(${quotedText(baseVariable)}), ${quotedText(base)}) || ${pathSql}`
}

function aboutTable({ dataset, table, manifest }: PublishedTable): string {
  return [
    table.description ?? `${dataset.name}: ${table.title ?? table.name}.`,
    `${manifest.rows} rows, imported ${manifest.import_date}, collected ${manifest.collected_at}.`,
    ...originOf(dataset),
  ].join(' ')
}

function originOf({ source, license }: Dataset): string[] {
  return [
    ...(source === null
      ? []
      : [source.url === null ? `Source: ${source.name}.` : `Source: ${source.name} (${source.url}).`]),
    ...(license === null ? [] : [`License: ${license.name} (${license.url}).`]),
  ]
}
