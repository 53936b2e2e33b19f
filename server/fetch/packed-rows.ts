import { tableId } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { same } from '../../core/catalog/types/field-type.ts'
import {
  Pack,
  packRows,
  PackSections,
  placeIn,
  sectionPacks,
  type PackPlaces,
} from '../../core/warehouse/packs/layout.ts'
import type { Piece } from '../../core/warehouse/file-checks.ts'
import type { PiecewiseFile } from '../../core/warehouse/manifest.ts'
import { Turns } from '../concurrency/turns.ts'
import { TooLarge } from '../engine/errors.ts'
import type { Timing } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import type { LineForm, WrittenLine } from '../formats/format.ts'
import { quotedJson } from '../../core/json.ts'
import { CheckedFile } from '../indexes/checked-file.ts'
import { Scratch } from '../indexes/scratch.ts'
import type { Dictionaries } from '../indexes/dictionaries.ts'
import type { Near } from '../indexes/near.ts'
import { Kept } from '../kept.ts'
import { Written } from './written.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'

/** Where packs lie, kept in memory, in bytes: of some 100 million rows. */
const placesBytesMax = 16_000_000
/** More rows than this are made by DuckDB, whose work others do not wait for. */
const packedRowsMax = 2000

/** Of the packs that one ask reads: what longer rows come to is made by DuckDB too, whose memory is bounded. */
const askBytesMax = 16_000_000

/** Packs that are no further apart are read together: a reading more costs as much. */
const gapBytesMax = 4096
/** Read without letting others have a turn. */
const runBytesMax = 262_144

/** Of a value with its name, about. */
const cellBytes = 50

/** Between looks at the clock. */
const rowsOfTurn = 16

/** Rows, and what it took to read them. */
interface Packed {
  readonly bytes: Uint8Array
  readonly timing: Timing
}

/** Rows that a snapshot keeps one by one: few of them cost little, wherever they lie. */
export class PackedRows {
  readonly #dictionaries: Dictionaries
  readonly #places = new Kept<PackPlaces>(
    placesBytesMax,
    ({ starts, directory }) => starts.byteLength + directory.length,
  )

  constructor(dictionaries: Dictionaries) {
    this.#dictionaries = dictionaries
  }

  /** Whether rows are few, and kept so. */
  has(snapshot: Snapshot, form: LineForm, { packs, places }: Near): boolean {
    const { manifest } = snapshot
    const isKept = packs !== null || manifest.packs !== undefined
    // What would be thrown away by the next ask costs more than it saves.
    const values = manifest.dictionary?.fields.reduce((sum, field) => sum + field.values, 0) ?? 0
    const fits = this.#dictionaries.bytesMax > 0 && values * cellBytes <= this.#dictionaries.bytesMax / 2
    return isKept && fits && places.length <= packedRowsMax && isWritable(snapshot, form)
  }

  /**
   * Rows as texts with the separator of their format between, in the order of their places.
   *
   * @returns null where they are not kept so, or are many or long, or DuckDB alone writes them
   * @throws DamagedTable, TooLarge, and what a statement throws
   */
  async read(snapshot: Snapshot, form: LineForm, near: Near, requester: Requester): Promise<Packed | null> {
    const began = performance.now()
    const packs = near.packs ?? snapshot.manifest.packs
    const { written, separator } = form.format
    if (packs === undefined || written === undefined || !this.has(snapshot, form, near)) return null
    const columns = await this.#columns(snapshot, form, written, requester)
    const turns = new Turns(requester.signal())
    const letGo = await snapshot.hold([packs.file])
    const reader = new Reader(snapshot, packs, this.#places)
    const { before, between, after } = written.around
    const apart = { rows: Buffer.from(separator), values: Buffer.from(between) }
    const [begin, end] = [Buffer.from(before), Buffer.from(after)]
    const lines = new Written()
    try {
      const packOf = await reader.read(near.places, turns)
      if (packOf === null) return null
      for (const [index, place] of near.places.entries()) {
        if (index % rowsOfTurn === 0) await turns.next()
        const pack = packOf.get(Math.floor(place / packRows))
        if (pack === undefined) throw new RangeError(`the pack of ${place} was not read`)
        if (lines.length > requester.pageBytesMax) throw new TooLarge()
        if (index > 0) lines.add(apart.rows)
        lines.add(begin)
        for (let column = 0; column < columns.length; column += 1) {
          if (column > 0) lines.add(apart.values)
          columns[column]?.(pack, place % packRows, lines)
        }
        lines.add(end)
      }
    } finally {
      reader.close()
      letGo()
    }
    return { bytes: lines.taken(), timing: { queue: 0, query: performance.now() - began } }
  }

  /** Of each field, what writes it of a row. */
  async #columns(
    snapshot: Snapshot,
    { fields }: LineForm,
    written: WrittenLine,
    requester: Requester,
  ): Promise<Column[]> {
    const columns: Column[] = []
    for (const field of fields) {
      const place = snapshot.manifest.fields.findIndex(({ name }) => name === field.name)
      const cells = await this.#dictionaries.cells(snapshot, field, written, requester)
      if (cells !== null) {
        const { all, starts } = cells
        columns.push((pack, row, lines) => {
          const code = pack.code(place, row)
          lines.copy(all, starts[code] ?? 0, starts[code + 1] ?? 0)
        })
        continue
      }
      const { wire } = typeRow(field.type)
      const isQuoted = written.takes === 'json' && wire.kind === 'text'
      const before = written.before(field)
      columns.push((pack, row, lines) => {
        const text = pack.text(place, row)
        if (text === null) lines.text(before + written.null)
        else lines.text(before + written.value(isQuoted ? quotedJson(text) : text, field))
      })
    }
    return columns
  }
}

/** Whether no field of a form needs DuckDB: of what has no codes, packs have what JSON has. */
function isWritable({ manifest }: Snapshot, { format: { written }, fields }: LineForm): boolean {
  if (written === undefined) return false
  const coded = new Set(manifest.dictionary?.fields.map(({ name }) => name))
  return fields.every(({ name, type }) => {
    if (coded.has(name) || written.takes === 'json') return true
    const { isPlainInJson, wire } = typeRow(type)
    return isPlainInJson && (written.takes === 'plain' || wire.text === same)
  })
}

/** Writes a field of a row. */
type Column = (pack: Pack, row: number, lines: Written) => void

/** The file of packs of a snapshot, while an ask reads it. */
class Reader {
  readonly #snapshot: Snapshot
  readonly #packs: PiecewiseFile
  readonly #scratch = new Scratch()
  readonly #file: CheckedFile
  /** What is kept is read apart from it. */
  readonly #kept: CheckedFile
  readonly #areCoded: readonly boolean[]
  readonly #places: Kept<PackPlaces>
  /** By section: those of this ask. */
  readonly #near = new Map<number, PackPlaces>()

  constructor(snapshot: Snapshot, packs: PiecewiseFile, places: Kept<PackPlaces>) {
    this.#snapshot = snapshot
    this.#packs = packs
    this.#file = new CheckedFile(snapshot, packs, this.#scratch.allocate)
    this.#kept = new CheckedFile(snapshot, packs)
    const coded = new Set(snapshot.manifest.dictionary?.fields.map(({ name }) => name))
    this.#areCoded = snapshot.manifest.fields.map(({ name }) => coded.has(name))
    this.#places = places
  }

  /**
   * The packs of some places, by their numbers; those that lie near each other are read together.
   *
   * @returns null where they are large
   * @throws DamagedTable
   */
  async read(places: Uint32Array, turns: Turns): Promise<ReadonlyMap<number, Pack> | null> {
    const numbers = new Set(places.map((place) => Math.floor(place / packRows)).toSorted())
    const runs: (readonly [number: number, piece: Piece])[][] = []
    let [bytes, begin, end] = [0, 0, -Infinity]
    for (const number of numbers) {
      const section = Math.floor(number / sectionPacks)
      const piece = placeIn(this.#placesOf(section), number % sectionPacks)
      bytes += piece.length
      if (bytes > askBytesMax) return null
      if (piece.start - end > gapBytesMax || piece.start - begin > runBytesMax) {
        runs.push([])
        begin = piece.start
      }
      runs.at(-1)?.push([number, piece])
      end = piece.start + piece.length
    }
    const packs = new Map<number, Pack>()
    for (const run of runs) {
      await turns.next()
      const read = this.#file.pieces(run.map(([, piece]) => piece))
      for (const [index, [number]] of run.entries()) {
        const rows = Math.min(packRows, this.#snapshot.manifest.rows - number * packRows)
        packs.set(number, new Pack(read[index] ?? Buffer.alloc(0), rows, this.#areCoded))
      }
    }
    return packs
  }

  /** Nothing that was read is looked at after it. */
  close(): void {
    this.#file.close()
    this.#kept.close()
    this.#scratch.end()
  }

  #placesOf(section: number): PackPlaces {
    const near = this.#near.get(section)
    if (near !== undefined) return near
    const places = this.#keptPlaces(section)
    this.#near.set(section, places)
    return places
  }

  #keptPlaces(section: number): PackPlaces {
    const key = `${tableId(this.#snapshot.table)}/${this.#snapshot.manifest.snapshot}/${this.#packs.file} ${section}`
    const kept = this.#places.get(key)
    if (kept !== undefined) return kept
    const sections = this.#sections()
    const places = sections.places(section, this.#kept.piece(sections.directory(section)))
    this.#places.set(key, places)
    return places
  }

  #sections(): PackSections {
    const known = allSections.get(this.#packs)
    if (known !== undefined) return known
    const shape = { rows: this.#snapshot.manifest.rows, bytes: this.#kept.bytes }
    const length = PackSections.bytes(shape)
    const sections = PackSections.read(this.#kept.directory(length), shape)
    if (sections === null) throw this.#kept.damaged('its directory has another sum')
    allSections.set(this.#packs, sections)
    return sections
  }
}

/** By what a manifest says of a file. */
const allSections = new WeakMap<PiecewiseFile, PackSections>()
