import path from 'node:path'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { codeOf, messageOf } from '../../core/errors.ts'
import { TableFailure } from '../base/rejects.ts'
import { unpackCheck, type Member, type PackedFile, type Sink, type UnpackLimits } from './member.ts'
import { fileWildcard } from '../../core/text.ts'

const openZip = promisify<string, yauzl.Options, ZipFile>(yauzl.open)

/** Files that the directory of a zip lists, verified by checksums. */
export async function zipMembers(
  file: PackedFile,
  pattern: string | null,
  limits: UnpackLimits,
): Promise<Member[]> {
  const entries = await entriesOf(file)
  const selectedEntries = pattern === null ? entries.filter(isText) : entries.filter(matching(pattern))
  const names = entries.map(({ fileName }) => fileName).join(', ')
  if (selectedEntries.length === 0)
    throw new TableFailure(`${file.name} contains no ${pattern ?? '.csv file'}, only: ${names}`)
  if (selectedEntries.length > 1 && pattern === null) {
    const example = selectedEntries.find(({ fileName }) => /\.csv$/i.test(fileName))?.fileName ?? names
    throw new TableFailure(
      `${file.name} contains several files (${names}): declare the one to read, such as source.member: ${JSON.stringify(example)}, or name it for \`acervo add\` by --member`,
    )
  }
  for (const entry of selectedEntries) requireReadable(file, entry)
  return selectedEntries.map((entry) => ({
    name: `${file.name}/${entry.fileName}`,
    inner: entry.fileName,
    bytes: entry.compressedSize,
    read: (sink) => readEntry(file, entry, sink, limits),
  }))
}

function isText({ fileName }: Entry): boolean {
  // Files that macOS adds to zips have the same extensions.
  const isOther = /(^|\/)(\.|__MACOSX\/|(readme|read_me|leia-?me|licen[cs]e)[^/]*\.txt$)/i.test(fileName)
  return /\.(csv|txt|tsv)$/i.test(fileName) && !isOther
}

function matching(pattern: string): (entry: Entry) => boolean {
  const fits = fileWildcard(pattern)
  return ({ fileName }) => fits(fileName) || fits(path.posix.basename(fileName))
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

const unread = [
  [/^strong encryption/, 'is encrypted: unpack it'],
  [/^multi-disk/, 'is one part of a split zip file: join the parts, or unpack them'],
] as const

function notZip(file: PackedFile, cause: unknown): TableFailure {
  const reason = messageOf(cause)
  const knownFault = unread.find(([pattern]) => pattern.test(reason))
  const message = `${file.name} ${knownFault?.[1] ?? `is damaged or cut off (${reason}): fetch it again`}`
  return Object.assign(new TableFailure(message), { cause })
}

/** Methods in APPNOTE.TXT, 4.4.5, that are still in use. */
const methodNames = new Map([
  [1, 'shrink'],
  [6, 'implode'],
  [9, 'Deflate64'],
  [12, 'bzip2'],
  [14, 'LZMA'],
  [20, 'zstd'],
  [93, 'zstd'],
  [95, 'xz'],
  [98, 'PPMd'],
])
const methodsRead = new Set([0, 8])
/** Encrypted entries have this number as compression method. */
const aesMethod = 99

function requireReadable(file: PackedFile, entry: Entry): void {
  const name = `${file.name}/${entry.fileName}`
  const method = entry.compressionMethod
  if (entry.isEncrypted() || method === aesMethod) throw new TableFailure(`${name} is encrypted: unpack it`)
  if (isLink(entry)) throw new TableFailure(`${name} is a link: add the file itself to the zip`)
  if (methodsRead.has(method)) return
  const methodName = methodNames.get(method)
  throw new TableFailure(
    `${name} is compressed ${methodName === undefined ? `by method ${method}` : `with ${methodName} (method ${method})`}, which is not ` +
      'supported: compress it again with deflate, the default of zip programs, or as .csv.gz or .csv.zst',
  )
}

function isLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000
}

const chunkBytesMin = 1024 * 1024

async function readEntry(file: PackedFile, entry: Entry, sink: Sink, limits: UnpackLimits): Promise<void> {
  const zip = await openWhole(file)
  try {
    const stream = await promisify<Entry, NodeJS.ReadableStream>(zip.openReadStream.bind(zip))(entry)
    const requireBounds = unpackCheck(file, limits)
    let [sum, passed, waiting, waitingBytes] = [0, 0, [] as Buffer[], 0]
    const flush = async (): Promise<void> => {
      const text = Buffer.concat(waiting)
      ;[waiting, waitingBytes] = [[], 0]
      passed += text.length
      await sink.onText(text, passed / (entry.uncompressedSize || 1))
    }
    for await (const text of stream as AsyncIterable<Buffer>) {
      requireBounds(text.length, entry.compressedSize)
      sum = zlib.crc32(text, sum)
      waiting.push(text)
      waitingBytes += text.length
      // The scanner rescans an incomplete long row with each chunk, so small chunks are merged.
      if (waitingBytes >= chunkBytesMin) await flush()
    }
    await flush()
    if (sum !== entry.crc32) throw new Error(`${entry.fileName} does not match its checksum`)
  } catch (cause) {
    // Errors of the system, such as a full disk, come from the sink.
    throw cause instanceof TableFailure || /^E[A-Z]/.test(codeOf(cause) ?? '') ? cause : notZip(file, cause)
  } finally {
    zip.close()
  }
}
