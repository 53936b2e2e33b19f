import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import path from 'node:path'
import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { SourceForm, Table } from '../core/catalog/catalog.ts'
import { codeOf, messageOf } from '../core/errors.ts'
import type { Progress } from './progress.ts'
import { TableFailure } from './rejects.ts'
import { CsvScanner } from './scan.ts'

/** Finding and reading sources. Another way of packing one is a row of `packings`; an encoding, a transform
 *  before the scanner. */

/** A source that was found, not yet read. */
export interface SourceFile {
  readonly file: string
  /** File name without its folders. */
  readonly name: string
  readonly bytes: number
  readonly packing: Packing
}

interface Packing {
  readonly ending: string
  readonly unpack: (() => Transform) | null
}

const packings: readonly Packing[] = [
  { ending: '.csv', unpack: null },
  { ending: '.csv.gz', unpack: () => createGunzip() },
]

/** First bytes that tell what a file really is, whatever its name says. */
const magics = [
  { bytes: Buffer.from([0x1f, 0x8b]), packing: '.csv.gz', what: 'a gzip file', remedy: 'name it .csv.gz' },
  {
    bytes: Buffer.from('PK\u0003\u0004'),
    packing: null,
    what: 'a zip or xlsx file',
    remedy: 'export it as CSV',
  },
  { bytes: Buffer.from([0xff, 0xfe]), packing: null, what: 'UTF-16 text', remedy: 'convert it to UTF-8' },
  { bytes: Buffer.from([0xfe, 0xff]), packing: null, what: 'UTF-16 text', remedy: 'convert it to UTF-8' },
] as const

/** A text packs to a hundredth at the very best; beyond this a file is made to fill the disk. */
const unpackedRatioMax = 500
const unpackedFreely = 64 * 1024 * 1024
const readBytes = 1024 * 1024

/**
 * The source of a table, or null where there is none.
 *
 * @throws TableFailure where two files could be meant
 */
export async function findSource(sources: string, table: Table): Promise<SourceFile | null> {
  const found: SourceFile[] = []
  for (const packing of packings) {
    const name = table.name + packing.ending
    const file = path.join(sources, table.dataset, name)
    const facts = await stat(file).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return null
      throw error
    })
    if (facts?.isFile() === true) found.push({ file, name, bytes: facts.size, packing })
  }
  if (found.length > 1) {
    throw new TableFailure(
      `both ${found.map((source) => source.file).join(' and ')} exist: keep the one that is meant`,
    )
  }
  return found[0] ?? null
}

export interface ReadSource {
  readonly scanner: CsvScanner
  /** SHA-256 of the bytes that were read, as the file has them. */
  readonly sha256: string
}

/**
 * Unpacks a source, scans it and writes its plain form to `target`; without a target it only scans.
 *
 * @throws TableFailure where the file is not what its name says, or damaged
 */
export async function readSource(
  source: SourceFile,
  form: SourceForm,
  progress: Progress,
  target: string | null,
  locate?: ReadonlySet<number>,
): Promise<ReadSource> {
  await checkMagic(source)
  const scanner = new CsvScanner({ delimiter: form.delimiter, ...(locate && { locate }) })
  const hash = createHash('sha256')
  let [packed, bytes] = [0, 0]
  const measure = through((chunk) => {
    hash.update(chunk)
    packed += chunk.length
    progress.advance({ fraction: packed / source.bytes, rows: scanner.records, bytes })
    return chunk
  })
  const scan = through(
    (chunk) => {
      bytes += chunk.length
      if (bytes > unpackedFreely && bytes > packed * unpackedRatioMax) {
        throw new TableFailure(
          `${source.name} unpacks to more than ${unpackedRatioMax} times its size: refused`,
        )
      }
      return scanner.push(chunk)
    },
    () => scanner.end(),
  )
  const unpack = source.packing.unpack?.() ?? through((chunk) => chunk)
  const sink = target === null ? through(() => Buffer.alloc(0)).resume() : createWriteStream(target)
  try {
    await pipeline(createReadStream(source.file, { highWaterMark: readBytes }), measure, unpack, scan, sink)
  } catch (cause) {
    if (codeOf(cause)?.startsWith('Z_') === true) {
      const message = `${source.name} is damaged or cut off (${messageOf(cause)}): fetch it again`
      throw Object.assign(new TableFailure(message), { cause })
    }
    throw cause
  }
  if ('bytesWritten' in unpack) await requireNothingAfter(source, Number(unpack.bytesWritten))
  return { scanner, sha256: hash.digest('hex') }
}

/** Node stops at the first byte that starts no member; padding by zeros may follow, anything else would be lost. */
async function requireNothingAfter(source: SourceFile, end: number): Promise<void> {
  if (end >= source.bytes) return
  for await (const chunk of createReadStream(source.file, { start: end, highWaterMark: readBytes })) {
    if ((chunk as Buffer).some((byte) => byte !== 0)) {
      throw new TableFailure(`${source.name} holds more after the end of its gzip data: pack it anew`)
    }
  }
}

async function checkMagic(source: SourceFile): Promise<void> {
  const start = Buffer.alloc(4)
  const handle = await open(source.file)
  try {
    await handle.read(start, 0, start.length, 0)
  } finally {
    await handle.close()
  }
  const magic = magics.find(({ bytes }) => start.subarray(0, bytes.length).equals(bytes))
  if (magic !== undefined && magic.packing !== source.packing.ending) {
    throw new TableFailure(`${source.name} is ${magic.what}: ${magic.remedy}`)
  }
}

function through(change: (chunk: Buffer) => Buffer, last: () => Buffer = () => Buffer.alloc(0)): Transform {
  return new Transform({
    readableHighWaterMark: readBytes,
    writableHighWaterMark: readBytes,
    transform: (chunk: Buffer, _encoding, done) => attempt(done, () => change(chunk)),
    flush: (done) => attempt(done, last),
  })
}

function attempt(done: TransformCallback, make: () => Buffer): void {
  try {
    done(null, make())
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)))
  }
}
