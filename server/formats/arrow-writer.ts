import {
  Bool,
  DateDay,
  Decimal,
  Dictionary,
  Field as ArrowField,
  Float64,
  Int32,
  Int64,
  makeData,
  makeVector,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  util,
  DataType,
  type Data,
  type Vector,
} from 'apache-arrow'
import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { ArrowMapping } from '../../core/catalog/types/field-type.ts'
import type { Answer } from '../../core/duckdb/connection.ts'
import type { Items } from '../../core/duckdb/vectors.ts'
import { isChoice, isTextColumn } from './arrow-columns.ts'
import type { OutputColumn, ColumnWriter } from './format.ts'

/** Writes columns as an Arrow IPC stream. */
export function arrowWriter(columns: readonly OutputColumn[]): ColumnWriter {
  const stream = new StreamWriter(columns)
  return {
    write: (answer, rows) => stream.write(recordBatch(columns, answer, rows)),
    takeBytes: () => stream.takeBytes(),
    finish: () => stream.finish(),
  }
}

const types: Readonly<Record<ArrowMapping['type'], (field: Field) => DataType>> = {
  utf8: () => new Utf8(),
  int64: () => new Int64(),
  float64: () => new Float64(),
  decimal: ({ scale, precision }) => new Decimal(scale, precision, 128),
  bool: () => new Bool(),
  date: () => new DateDay(),
  timestamp: () => new TimestampMicrosecond(),
}

function typeOf(column: OutputColumn, id: number): DataType {
  if (isChoice(column)) return new Dictionary(new Utf8(), new Int32(), id)
  return types[typeRow(column.field.type).arrow.type](column.field)
}

function arrowSchema(columns: readonly OutputColumn[]): Schema {
  return new Schema(
    columns.map((column, id) => {
      const { name, title, unit, description } = column.field
      const texts = Object.entries({ title, unit, description })
      const metadata = new Map(texts.flatMap(([key, text]) => (text === null ? [] : [[key, text]])))
      return new ArrowField(name, typeOf(column, id), true, metadata)
    }),
  )
}

function recordBatch(columns: readonly OutputColumn[], answer: readonly Answer[], rows: number): RecordBatch {
  const schema = arrowSchema(columns)
  const results = answer.values()
  const children = columns.map((column, index): Data => {
    const type: DataType | undefined = schema.fields[index]?.type
    if (isTextColumn(column)) return textData(bytesOf(results.next().value), itemsOf(results.next().value))
    return dataOf(type, itemsOf(results.next().value), column)
  })
  const type = new Struct(schema.fields)
  return new RecordBatch(schema, makeData({ type, length: rows, nullCount: 0, children }))
}

/** Collects the bytes of a batch; the library's own queue could grow without limit. */
class StreamWriter extends RecordBatchStreamWriter {
  #written: Uint8Array[] = []

  constructor(columns: readonly OutputColumn[]) {
    super()
    this.reset(undefined, arrowSchema(columns))
  }

  takeBytes(): Uint8Array[] {
    const writtenBytes = this.#written
    this.#written = []
    return writtenBytes
  }

  protected override _write(chunk: Parameters<typeof util.toUint8Array>[0]): this {
    const bytes: Uint8Array = util.toUint8Array(chunk)
    if (bytes.byteLength > 0) this.#written.push(bytes)
    return this
  }
}

function dataOf(
  type: DataType | undefined,
  { values, validBits, nullCount }: Items,
  { choices }: OutputColumn,
): Data {
  const common = { length: values.length, nullCount, nullBitmap: validBits }
  if (DataType.isInt(type) && values instanceof BigInt64Array)
    return makeData({ ...common, type, data: values })
  if (DataType.isFloat(type) && values instanceof Float64Array)
    return makeData({ ...common, type, data: values })
  if (DataType.isDate(type) && values instanceof Int32Array)
    return makeData({ ...common, type, data: values })
  if (DataType.isTimestamp(type) && values instanceof BigInt64Array)
    return makeData({ ...common, type, data: values })
  if (DataType.isBool(type)) return makeData({ ...common, type, data: bitsOf(values) })
  if (DataType.isDecimal(type)) {
    const words = new Uint32Array(values.buffer, values.byteOffset, values.byteLength / 4)
    return makeData({ ...common, length: words.length / 4, type, data: words })
  }
  if (DataType.isDictionary(type) && values instanceof Int32Array) {
    if (values.some((key) => key < 0)) throw new Error('value is not in the dictionary of the report')
    return makeData({ ...common, type, data: values, dictionary: choiceVector(choices ?? []) })
  }
  throw new TypeError('expected a type of Arrow')
}

/** One vector per list of choices, so that a stream contains each dictionary once. */
const vectors = new WeakMap<readonly string[], Vector<Utf8>>()

function choiceVector(choices: readonly string[]): Vector<Utf8> {
  const cachedVector = vectors.get(choices)
  if (cachedVector !== undefined) return cachedVector
  const texts = choices.map((choice) => Buffer.from(choice))
  const vector = makeVector(
    textData(Buffer.concat(texts), {
      values: Uint32Array.from(texts, ({ length }) => length),
      validBits: null,
      nullCount: 0,
    }),
  )
  vectors.set(choices, vector)
  return vector
}

function textData(data: Uint8Array, { values, validBits, nullCount }: Items): Data<Utf8> {
  const valueOffsets = new Int32Array(values.length + 1)
  let end = 0
  for (let index = 0; index < values.length; index += 1) {
    end += Number(values[index])
    valueOffsets[index + 1] = end
  }
  const type = new Utf8()
  return makeData({ type, length: values.length, nullCount, nullBitmap: validBits, valueOffsets, data })
}

function bitsOf(values: NodeJS.TypedArray): Uint8Array {
  const bits = new Uint8Array(Math.ceil(values.length / 8))
  for (let index = 0; index < values.length; index += 1) {
    if (values[index] === 1) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
  }
  return bits
}

function itemsOf(answer: Answer | undefined): Items {
  if (answer === undefined || answer instanceof Uint8Array) throw new TypeError('expected a list')
  return answer
}

function bytesOf(answer: Answer | undefined): Uint8Array {
  if (!(answer instanceof Uint8Array)) throw new TypeError('expected a BLOB')
  return answer
}
