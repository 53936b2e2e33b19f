import {
  DuckDBBlobValue,
  DuckDBBlobVector,
  DuckDBTypeId,
  DuckDBUIntegerVector,
  DuckDBVarCharVector,
  type DuckDBValue,
  type DuckDBVector,
} from '@duckdb/node-api'

export type Value = DuckDBValue

export interface Items {
  /** Zero for each null; 16 bytes per HUGEINT. */
  readonly values: NodeJS.TypedArray
  /** Bitmap of items that are not null, lowest bit first; null if no item is null. */
  readonly validBits: Uint8Array | null
  readonly nullCount: number
}

/** Decodes texts here, since the binding drops a leading U+FEFF. */
export function columnValues(vector: DuckDBVector): Value[] {
  const { typeId } = vector.type
  if (nestedTypes.has(typeId)) throw new TypeError('texts in lists are not read')
  const isText = vector instanceof DuckDBVarCharVector
  return Array.from({ length: vector.itemCount }, (_, index) => {
    if (!isText) return vector.getItem(index)
    // VARCHAR is stored like BLOB.
    const bytes = DuckDBBlobVector.prototype.getItemBytes.call(vector as unknown as DuckDBBlobVector, index)
    return bytes === null
      ? null
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  })
}

const nestedTypes = new Set([
  DuckDBTypeId.LIST,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.STRUCT,
  DuckDBTypeId.MAP,
  DuckDBTypeId.UNION,
])

export function blobBytes(value: Value | undefined): Uint8Array {
  if (!(value instanceof DuckDBBlobValue)) throw new TypeError('expected a BLOB')
  return value.bytes
}

const [zero, comma] = ['0', ','].map((character) => character.charCodeAt(0)) as [number, number]

export function parseNumbers(text: Uint8Array): Uint32Array {
  if (text.length === 0) return new Uint32Array()
  let count = 1
  for (let offset = 0; offset < text.length; offset += 1) if (text[offset] === comma) count += 1
  const numbers = new Uint32Array(count)
  let [number, place] = [0, 0]
  for (let offset = 0; offset < text.length; offset += 1) {
    const character = text[offset] ?? comma
    if (character !== comma) number = 10 * number + character - zero
    else {
      numbers[place] = number
      place += 1
      number = 0
    }
  }
  numbers[place] = number
  return numbers
}

/** Returns the numbers of a vector, with a bit mask of the values that are not null. */
export function itemsOf(vector: DuckDBVector | null): Items {
  if (vector === null) return { values: new Uint8Array(), validBits: null, nullCount: 0 }
  const items: unknown = Reflect.get(vector, 'items')
  const dataView: unknown = Reflect.get(vector, 'dataView')
  const validity: unknown = Reflect.get(vector, 'validity')
  if (!isValidity(validity)) throw new TypeError('expected a vector with a null mask')
  const count = vector.itemCount
  const validBits = new Uint8Array(Math.ceil(count / 8))
  let nullCount = 0
  for (let index = 0; index < count; index += 1) {
    if (validity.itemValid(index)) validBits[index >> 3] = (validBits[index >> 3] ?? 0) | (1 << (index & 7))
    else nullCount += 1
  }
  const values = isTyped(items) ? items : dataView instanceof DataView ? bytesIn(dataView) : null
  if (values === null) throw new TypeError('expected a vector of numbers')
  return nullCount === 0
    ? { values, validBits: null, nullCount }
    : { values: withoutNulls(values, validBits, count), validBits, nullCount }
}

/** Replaces nulls with zeros: DuckDB leaves old memory there, such as values of other requests. */
function withoutNulls(values: NodeJS.TypedArray, valid: Uint8Array, count: number): NodeJS.TypedArray {
  const copy = values.slice()
  const bytes = bytesIn(copy)
  const width = bytes.length / count
  for (let index = 0; index < count; index += 1) {
    if (((valid[index >> 3] ?? 0) & (1 << (index & 7))) === 0)
      bytes.fill(0, index * width, (index + 1) * width)
  }
  return copy
}

function bytesIn(view: NodeJS.ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

function isTyped(value: unknown): value is NodeJS.TypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

function isValidity(value: unknown): value is { itemValid: (index: number) => boolean } {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'itemValid') === 'function'
}

/** Returns UINTEGERs without nulls as one array; reading them one by one is far slower. */
export function uintegersOf(vector: DuckDBVector): Uint32Array {
  const items: unknown = Reflect.get(vector, 'items')
  if (!(vector instanceof DuckDBUIntegerVector) || !(items instanceof Uint32Array))
    throw new TypeError('expected a column of UINTEGER')
  return items
}
