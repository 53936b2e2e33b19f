import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import type { Table } from '../../../core/catalog/catalog.ts'
import { silentProgress } from '../../../ingest/base/progress.ts'
import {
  type EntryFit,
  fitOf,
  suggest,
  suggestionText,
  type Suggestion,
} from '../../../ingest/suggest/suggest.ts'
import { whatCame } from './declared.ts'
import { placed, temporaryFolder } from '../../support/workshop.ts'

/** The lines that are printed of a file. */
export async function suggested(name: string, content: string | Buffer): Promise<string[]> {
  return suggestionText(await suggestion(name, content))
    .trimEnd()
    .split('\n')
}

/** Returns the fields of a table that do not fit a file. */
export async function fitIn(table: Table, content: string | Buffer): Promise<EntryFit> {
  const file = path.join(await temporaryFolder(), 't.csv')
  await writeFile(file, content)
  const options = {
    scratch: await temporaryFolder(),
    limits: { unpackedBytesMax: 1e9 },
    progress: silentProgress,
  }
  return fitOf([placed(file, 't.csv', content.length)], table, options)
}

export async function suggestion(name: string, content: string | Buffer): Promise<Suggestion> {
  const folder = await temporaryFolder()
  const file = path.join(folder, name)
  await writeFile(file, content)
  return suggest([placed(file, name, Buffer.byteLength(content))], {
    scratch: await temporaryFolder(),
    limits: { unpackedBytesMax: 1e9 },
    progress: silentProgress,
    source: {},
  })
}

export const linesOf = (...lines: string[]): string => `${lines.join('\n')}\n`

/** The entry as YAML has it, and all that is said beside it. */
export async function entryOf(content: string | Buffer, name = 'x.csv') {
  const output = await suggested(name, content)
  const [entry] = parse(output.join('\n')) as [
    {
      source?: { nulls?: string[] }
      fields: { name: string; type: string; nulls?: string[] }[]
    },
  ]
  return { output: output.join('\n'), entry }
}

/** Returns the result of a file that is declared as suggested. */
export async function ingested(content: string | Buffer, name = 'x.csv') {
  const { entry } = await entryOf(content, name)
  const declaration = {
    ...entry,
    name: 't',
    source: { ...entry.source, files: `d/${name}` },
    may_be_empty: true,
  }
  return whatCame(declaration, { [`d/${name}`]: content })
}
