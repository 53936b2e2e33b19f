import { open, type FileHandle } from 'node:fs/promises'
import zlib from 'node:zlib'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import {
  Directory,
  directoryBytes,
  groupRows,
  sectionGroups,
  sectionRows,
  unpackGroup,
  type Codes,
} from '../../core/warehouse/codes/layout.ts'
import { piecesAt } from './codes.ts'
import { numberOf, sortedSql, type Work } from './convert.ts'
import { tableOf, whatFits, type CodedField } from './dictionary.ts'
import { bytesAt } from './proof.ts'

/**
 * What the snapshot before knows of the values of its rows, some of which are taken over: how often each value occurred, and
 * which one each row has. So neither has to be read again but for the rows that are others.
 */
export interface ValuesBefore {
  /** Its dictionary. */
  readonly dictionary: string
  /** In the order of the dictionary. */
  readonly fields: readonly { readonly name: string; readonly values: number }[]
  /** Its codes, and the fields that they are of. */
  readonly codes: { readonly file: string; readonly bytes: number; readonly fields: readonly string[] } | null
  readonly rows: number
  /** Its parts that are not taken over. */
  readonly gone: readonly string[]
  /** Rows that are taken over, by their positions now. */
  readonly runs: readonly KeptRun[]
}

/** Rows that follow each other now, and did before. */
interface KeptRun {
  readonly first: number
  readonly rows: number
  /** Position of the first in the snapshot before. */
  readonly before: number
}

/**
 * Numbers the values of all fields that the snapshot before had in its dictionary: what was counted there, less what is gone, and
 * what is new. Fields that have too many values by now are left out.
 *
 * @param read the rows that are not taken over
 * @throws Error where the counts before cannot have been those of its rows
 */
export async function numberKept(work: Work, read: Work, before: ValuesBefore): Promise<CodedField[]> {
  const { db, fields } = work
  const numbered: CodedField[] = []
  for (const [place, { name, values }] of before.fields.entries()) {
    const index = fields.findIndex(({ field }) => field.name === name)
    const field = fields[index]?.field
    if (field === undefined) continue
    const { stored, rendered } = typeRow(field.type)
    const known = `read_parquet(${quotedText(before.dictionary)}) where field = ${place}`
    const [counted = []] = await db.rows(
      `select count(*), coalesce(sum(rows), 0), coalesce(bool_and(${rendered(`value::${stored(field)}`)} = value), true) from ${known}`,
    )
    // What a value is rendered as must lead back to it.
    if (counted[2] !== true) continue
    if (numberOf(counted[0]) !== values)
      throw new Error(`the dictionary of "${name}" is not what the manifest says`)
    const files = before.gone.map(quotedText).join(', ')
    const gone =
      before.gone.length === 0
        ? ''
        : `union all select ${quotedName(name)}, -count(*) from read_parquet([${files}]) group by 1`
    await db.rows(`create or replace temp table ${tableOf({ index })} as
      select value, ${rendered('value')} as text, rows, (row_number() over (order by value nulls last) - 1)::uinteger as code
      from (select value, sum(rows)::bigint as rows from (
        select value::${stored(field)} as value, rows::bigint as rows from ${known}
        union all select null, ${before.rows - numberOf(counted[1])}
        ${gone}
        union all select f${index}, count(*) from ${sortedSql(read)} group by 1) group by 1 having sum(rows) <> 0)`)
    const [least = []] = await db.rows(`select coalesce(min(rows), 1) from ${tableOf({ index })}`)
    if (numberOf(least[0]) < 0) throw new Error(`more rows of "${name}" are gone than there were`)
    const fitting = await whatFits(work, index, name)
    if (fitting !== null) numbered.push(fitting)
  }
  return numbered
}

/** A field whose codes were known before, and what they are now. */
interface Renumbered {
  readonly place: number
  readonly values: number
  /** By the code before; none where a value is gone. */
  readonly codes: Int32Array
  /** Whether all are what they were. */
  readonly isSame: boolean
}

/** The codes of rows that are taken over, as they are now. */
export class KeptCodes {
  readonly #handle: FileHandle
  readonly #directory: Directory
  readonly #runs: readonly KeptRun[]
  readonly #fields: ReadonlyMap<number, Renumbered>
  /** By field: the section that was read last, as it is packed, and the group of it. */
  readonly #section = new Map<number, { readonly section: number; readonly groups: readonly Uint8Array[] }>()
  readonly #last = new Map<number, { readonly group: number; readonly codes: Codes }>()

  private constructor(
    handle: FileHandle,
    directory: Directory,
    runs: readonly KeptRun[],
    fields: ReadonlyMap<number, Renumbered>,
  ) {
    this.#handle = handle
    this.#directory = directory
    this.#runs = runs
    this.#fields = fields
  }

  /** Null where the snapshot before has no codes. */
  static async open(
    work: Work,
    before: ValuesBefore,
    fields: readonly CodedField[],
  ): Promise<KeptCodes | null> {
    const { codes, rows, runs } = before
    if (codes === null) return null
    const valuesOf = (name: string): number => before.fields.find((field) => field.name === name)?.values ?? 0
    const handle = await open(codes.file)
    try {
      const shape = { rows, bytes: codes.bytes, values: codes.fields.map(valuesOf) }
      const length = directoryBytes(shape)
      const directory = Directory.read(await bytesAt(handle, shape.bytes - length, length), shape)
      if (directory === null) throw new Error(`${codes.file} is not as it was written`)
      const renumbered = new Map<number, Renumbered>()
      for (const { index, name, values } of fields) {
        const place = codes.fields.indexOf(name)
        if (place === -1) continue
        const now = await renumber(work, before, index, name, values)
        const isSame = now.every((code, was) => code === was)
        renumbered.set(index, { place, values: valuesOf(name), codes: now, isSame })
      }
      return new KeptCodes(handle, directory, runs, renumbered)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  has(index: number): boolean {
    return this.#fields.has(index)
  }

  /** Rows from `first` on, as runs that are taken over, or are not. */
  split(
    first: number,
    rows: number,
  ): { readonly first: number; readonly rows: number; readonly run: KeptRun | null }[] {
    const found: { first: number; rows: number; run: KeptRun | null }[] = []
    let at = first
    const end = first + rows
    for (const run of this.#runs) {
      const [from, to] = [Math.max(at, run.first), Math.min(end, run.first + run.rows)]
      if (from >= to) continue
      if (from > at) found.push({ first: at, rows: from - at, run: null })
      found.push({ first: from, rows: to - from, run })
      at = to
    }
    if (at < end) found.push({ first: at, rows: end - at, run: null })
    return found
  }

  /** The pieces of a section as they lie in the snapshot before, where its rows and codes are those of one there; null where not. */
  async section(index: number, first: number): Promise<Uint8Array[] | null> {
    const field = this.#fields.get(index)
    if (field?.isSame !== true) return null
    const shifts = new Set(this.split(first, sectionRows).map(({ run }) => run && run.before - run.first))
    const [shift = null] = shifts
    if (shifts.size !== 1 || shift === null || (first + shift) % sectionRows !== 0) return null
    return piecesAt(this.#handle, this.#directory.section(field.place, (first + shift) / sectionRows))
  }

  /** The codes of rows of a run. */
  async read(index: number, run: KeptRun, first: number, target: Codes): Promise<void> {
    const field = this.#fields.get(index)
    if (field === undefined) throw new RangeError(`the codes of field ${index} were not kept`)
    for (let row = 0; row < target.length;) {
      const position = run.before + (first - run.first) + row
      const group = Math.floor(position / groupRows)
      const codes = await this.#group(index, field, group)
      const from = position - group * groupRows
      const some = Math.min(target.length - row, codes.length - from)
      if (field.isSame) target.set(codes.subarray(from, from + some), row)
      else writeRenumbered(target, row, codes, from, some, field.codes)
      row += some
    }
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #group(index: number, { place, values }: Renumbered, group: number): Promise<Codes> {
    const last = this.#last.get(index)
    if (last?.group === group) return last.codes
    const section = Math.floor(group / sectionGroups)
    let packed = this.#section.get(index)
    if (packed?.section !== section) {
      const [, ...groups] = await piecesAt(this.#handle, this.#directory.section(place, section))
      packed = { section, groups }
      this.#section.set(index, packed)
    }
    const codes = unpackGroup(
      zlib.inflateRawSync(packed.groups[group % sectionGroups] ?? new Uint8Array()),
      values,
    )
    this.#last.set(index, { group, codes })
    return codes
  }
}

function writeRenumbered(
  target: Codes,
  row: number,
  codes: Codes,
  from: number,
  count: number,
  now: Int32Array,
): void {
  let least = 0
  for (let at = 0; at < count; at += 1) {
    const code = now[codes[from + at] as number] as number
    if (code < least) least = code
    target[row + at] = code
  }
  if (least < 0) throw new Error('a row has a value that the dictionary says is gone')
}

/** By the code before the code now, told by the text of each value; the last one is that of null. */
async function renumber(
  { db }: Work,
  before: ValuesBefore,
  index: number,
  name: string,
  values: number,
): Promise<Int32Array> {
  const place = before.fields.findIndex((field) => field.name === name)
  const own = before.fields[place]?.values ?? 0
  const rows = await db.rows(`select known.code, now.code from
    (select value, row_number() over (order by file_row_number) - 1 as code
      from read_parquet(${quotedText(before.dictionary)}, file_row_number = true) where field = ${place}) as known
    join ${tableOf({ index })} as now on now.text = known.value`)
  const codes = new Int32Array(own + 1).fill(-1)
  for (const [was, is] of rows) codes[numberOf(was)] = numberOf(is)
  codes[own] = values
  return codes
}
