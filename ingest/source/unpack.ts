import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { callbackify, promisify } from 'node:util'
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import zlib from 'node:zlib'
import picomatch from 'picomatch'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { codeOf, messageOf } from '../../core/errors.ts'
import { TableFailure } from '../rejects.ts'
import { kindBytes, requirePacking } from './kinds.ts'
import { requireWholeFrame } from './zstd-frame.ts'

/** How a source is packed, told by the end of its name. */
export type Packing = 'gzip' | 'zstd' | 'zip' | null

export const packings: Readonly<Record<string, Packing>> = {
  '.csv': null,
  '.csv.gz': 'gzip',
  '.csv.zst': 'zstd',
  '.csv.zip': 'zip',
}

export function packingOf(name: string): Packing {
  const ends = { '.gz': 'gzip', '.zst': 'zstd', '.zip': 'zip' } as const
  const found = Object.entries(ends).find(([end]) => name.toLowerCase().endsWith(end))
  return found?.[1] ?? null
}

/** A text in a source: the file itself, or one of the files of a zip. */
export interface Member {
  readonly name: string
  /**
   * Hands the text to `sink` in chunks, then checks that it is whole.
   *
   * @throws TableFailure where it is damaged, or unpacks to more than it may
   */
  readonly read: (sink: Sink) => Promise<void>
}

export interface Sink {
  /** Of the file as it lies there. */
  readonly onPacked: (chunk: Buffer) => void
  readonly onText: (chunk: Buffer) => Promise<void>
}

export interface PackedFile {
  readonly path: string
  /** How it is named to people. */
  readonly name: string
  readonly bytes: number
}

export interface UnpackLimits {
  /** Text that a file may unpack to, in bytes. */
  readonly unpackedBytesMax: number
}

/** CSV packs to a hundredth at the very best; beyond this a file is made to fill the disk. */
const ratioMax = 500
const freely = 64 * 1024 * 1024
const chunkBytes = 1024 * 1024

/**
 * The texts in a file.
 *
 * @param pattern which files of a zip, with * for any part of a name; null for the only one
 * @throws TableFailure where the file is not what its name says
 */
export async function membersOf(
  file: PackedFile,
  pattern: string | null,
  limits: UnpackLimits,
): Promise<Member[]> {
  const packing = packingOf(file.name)
  requirePacking(await startOf(file.path), packing, file.name)
  if (packing === 'zip') return zipMembers(file, pattern, limits)
  if (packing === null) return [{ name: file.name, read: (sink) => readThrough(file, null, sink, limits) }]
  const unpack = packing === 'gzip' ? zlib.createGunzip : zstdOf(file)
  if (packing === 'zstd') await requireWholeFrame(file)
  return [
    { name: file.name, read: (sink) => readThrough(file, unpack({ chunkSize: chunkBytes }), sink, limits) },
  ]
}

async function startOf(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const start = Buffer.alloc(kindBytes)
    const { bytesRead } = await handle.read(start, 0, kindBytes, 0)
    return start.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

type Unpack = (options: { chunkSize: number }) => Transform & { bytesWritten: number }

/** Node has had it since 22.15. */
function zstdOf({ name }: PackedFile): Unpack {
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: Unpack }
  if (createZstdDecompress !== undefined) return createZstdDecompress
  throw new TableFailure(
    `${name} needs Node 22.15 or newer, and this is ${process.version}: pack it with gzip instead`,
  )
}

async function readThrough(
  file: PackedFile,
  unpack: ReturnType<Unpack> | null,
  sink: Sink,
  limits: UnpackLimits,
): Promise<void> {
  let packed = 0
  const requireBounds = boundsOf(file, limits)
  const measure = new Transform({
    highWaterMark: chunkBytes,
    transform: (chunk: Buffer, _encoding, done) => {
      packed += chunk.length
      sink.onPacked(chunk)
      done(null, chunk)
    },
  })
  const takeText = async (text: Buffer): Promise<void> => {
    requireBounds(text.length, packed)
    await sink.onText(text)
  }
  const consume = new Writable({
    highWaterMark: chunkBytes,
    write: (text: Buffer, _encoding, done) => {
      callbackify(takeText)(text, done)
    },
  })
  const input = createReadStream(file.path, { highWaterMark: chunkBytes })
  try {
    await (unpack === null ? pipeline(input, measure, consume) : pipeline(input, measure, unpack, consume))
  } catch (cause) {
    throw damaged(file, cause)
  }
  if (unpack !== null) await requireNothingAfter(file, unpack.bytesWritten)
}

function damaged(file: PackedFile, cause: unknown): unknown {
  const isOfUnpacking = /^(Z_|ZSTD_)/.test(codeOf(cause) ?? '')
  if (!isOfUnpacking) return cause
  const message = `${file.name} is damaged or cut off (${messageOf(cause)}): fetch it again`
  return Object.assign(new TableFailure(message), { cause })
}

/** Node stops at the first byte that starts no member; padding by zeros may follow, anything else would be lost. */
async function requireNothingAfter(file: PackedFile, end: number): Promise<void> {
  if (end >= file.bytes) return
  for await (const chunk of createReadStream(file.path, { start: end, highWaterMark: chunkBytes })) {
    if ((chunk as Buffer).some((byte) => byte !== 0)) {
      throw new TableFailure(`${file.name} holds more after the end of its packed data: pack it anew`)
    }
  }
}

function boundsOf(
  file: PackedFile,
  { unpackedBytesMax }: UnpackLimits,
): (text: number, packed: number) => void {
  let unpacked = 0
  return (text, packed) => {
    unpacked += text
    if (unpacked > freely && unpacked > packed * ratioMax) {
      throw new TableFailure(`${file.name} unpacks to more than ${ratioMax} times its size: refused`)
    }
    if (unpacked > unpackedBytesMax) {
      throw new TableFailure(
        `${file.name} unpacks to more than ${unpackedBytesMax / 1e9} GB: set UNPACKED_GB to more if it is meant`,
      )
    }
  }
}

const openZip = promisify<string, yauzl.Options, ZipFile>(yauzl.open)

async function zipMembers(file: PackedFile, pattern: string | null, limits: UnpackLimits): Promise<Member[]> {
  const entries = await entriesOf(file)
  const wanted = pattern === null ? entries.filter(isText) : entries.filter(matching(pattern))
  const names = entries.map(({ fileName }) => fileName).join(', ')
  if (wanted.length === 0)
    throw new TableFailure(`${file.name} holds no ${pattern ?? '.csv file'}, but: ${names}`)
  if (wanted.length > 1 && pattern === null) {
    throw new TableFailure(
      `${file.name} holds several files (${names}): declare source.member to say which to read`,
    )
  }
  return wanted.map((entry) => ({
    name: `${file.name}/${entry.fileName}`,
    read: (sink) => readEntry(file, entry, sink, limits),
  }))
}

function isText({ fileName }: Entry): boolean {
  return /\.(csv|txt|tsv)$/i.test(fileName)
}

function matching(pattern: string): (entry: Entry) => boolean {
  const matches = picomatch(pattern, { dot: true })
  return ({ fileName }) => matches(fileName) || matches(path.basename(fileName))
}

async function entriesOf(file: PackedFile): Promise<Entry[]> {
  const zip = await openWhole(file)
  try {
    const entries: Entry[] = []
    await new Promise<void>((resolve, reject) => {
      zip.on('entry', (entry: Entry) => {
        if (!entry.fileName.endsWith('/')) entries.push(entry)
        zip.readEntry()
      })
      zip.on('end', resolve)
      zip.on('error', reject)
      zip.readEntry()
    })
    return entries.toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1))
  } catch (cause) {
    throw notZip(file, cause)
  } finally {
    zip.close()
  }
}

async function openWhole(file: PackedFile): Promise<ZipFile> {
  try {
    return await openZip(file.path, { lazyEntries: true, autoClose: false, strictFileNames: true })
  } catch (cause) {
    throw notZip(file, cause)
  }
}

function notZip(file: PackedFile, cause: unknown): TableFailure {
  const message = `${file.name} is damaged or cut off (${messageOf(cause)}): fetch it again`
  return Object.assign(new TableFailure(message), { cause })
}

async function readEntry(file: PackedFile, entry: Entry, sink: Sink, limits: UnpackLimits): Promise<void> {
  if (entry.isEncrypted()) throw new TableFailure(`${file.name}/${entry.fileName} is encrypted: unpack it`)
  const zip = await openWhole(file)
  try {
    const stream = await promisify<Entry, NodeJS.ReadableStream>(zip.openReadStream.bind(zip))(entry)
    const requireBounds = boundsOf(file, limits)
    let sum = 0
    for await (const text of stream as AsyncIterable<Buffer>) {
      requireBounds(text.length, entry.compressedSize)
      sum = zlib.crc32(text, sum)
      await sink.onText(text)
    }
    if (sum !== entry.crc32)
      throw new Error(`${entry.fileName} has another check sum than it was packed with`)
  } catch (cause) {
    // Those of the system, a full disk say, come from the sink.
    throw cause instanceof TableFailure || /^E[A-Z]/.test(codeOf(cause) ?? '') ? cause : notZip(file, cause)
  } finally {
    zip.close()
  }
}
