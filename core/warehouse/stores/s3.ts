import { createHash } from 'node:crypto'
import { open, readdir, rm, stat, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import type { GetObjectCommandOutput, ListObjectsV2CommandOutput, S3Client } from '@aws-sdk/client-s3'
import { StartError } from '../../errors.ts'
import { inOrder } from '../../in-order.ts'
import { fileNames } from '../layout.ts'
import {
  errorName,
  StoreFailure,
  WriteConflict,
  type FileState,
  type PinnedFile,
  type Store,
} from './store.ts'
import { LocalFiles } from './local-files.ts'
import { Lease, type LeaseOptions, type LeaseFile } from './lease.ts'

type Sdk = typeof import('@aws-sdk/client-s3')

/** A store accepts 10,000 pieces of an upload. */
const pieceBytes = 16 * 1024 * 1024
const transfersMax = 4
const attemptsMax = 4
const connectMs = 3000
const silenceMs = 20_000

interface S3Options {
  readonly folder: string
  readonly bytesMax?: number
  readonly lease?: LeaseOptions
}

/**
 * An object store with the S3 protocol. Credentials, region and endpoint come from variables `AWS_...` and
 * other sources of the SDK. A small file is replaced only if it has not changed since this process read it,
 * so that one of two concurrent jobs fails.
 */
export class S3Store implements Store {
  readonly address: string
  readonly localFolder: string
  readonly scratchFolder: string
  readonly #bucket: string
  readonly #prefix: string
  readonly isRemote = true
  readonly #files: LocalFiles
  readonly #lease: LeaseOptions
  /** ETags as last read or written; null for a missing file. */
  readonly #tags = new Map<string, string | null>()
  readonly #heldLeases = new Map<string, Lease>()
  #client: Promise<{ sdk: Sdk; client: S3Client }> | null = null

  /** @param address `s3://bucket` or `s3://bucket/prefix` */
  constructor(address: string, { folder, bytesMax = Infinity, lease = {} }: S3Options) {
    const [, bucket, prefix = ''] =
      /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?(?<!\/)\/*$/.exec(address) ?? []
    if (bucket === undefined || prefix.split('/').some((name) => name === '.' || name === '..'))
      throw new StartError(`WAREHOUSE: ${address} is not an address such as s3://bucket/prefix`)
    this.#bucket = bucket
    this.#prefix = prefix === '' ? '' : `${prefix}/`
    this.address = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
    this.localFolder = path.resolve(folder)
    this.scratchFolder = path.join(this.localFolder, '.scratch')
    this.#lease = lease
    this.#files = new LocalFiles({ folder: this.localFolder, bytesMax, read: (key) => this.read(key) })
  }

  async stat(key: string): Promise<FileState | null> {
    const head = await this.#ask(key, ({ sdk, client }, target) =>
      client.send(new sdk.HeadObjectCommand(target)),
    )
    this.#tags.set(key, head?.ETag ?? null)
    if (head === null) return null
    return {
      bytes: head.ContentLength ?? 0,
      version: `${head.ETag ?? ''} ${head.LastModified?.getTime() ?? 0} ${head.ContentLength ?? 0}`,
    }
  }

  async get(key: string): Promise<Buffer | null> {
    const object = await this.#ask(key, async ({ sdk, client }, target) => {
      const answer = await client.send(new sdk.GetObjectCommand(target))
      return { tag: answer.ETag ?? null, bytes: await readBody(answer) }
    })
    this.#tags.set(key, object?.tag ?? null)
    return object?.bytes ?? null
  }

  async *read(
    key: string,
    range?: { readonly start: number; readonly end: number },
  ): AsyncGenerator<Uint8Array> {
    const part = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end - 1}` }
    const answer = await this.#ask(key, ({ sdk, client }, target) =>
      client.send(new sdk.GetObjectCommand({ ...target, ...part })),
    )
    if (answer === null) throw new StoreFailure(`${this.address}/${key}`, noSuchKey)
    try {
      yield* bodyOf(answer)
    } catch (error) {
      throw new StoreFailure(`${this.address}/${key}`, error)
    }
  }

  async list(folder: string): Promise<string[]> {
    const head = this.#nameOf(folder === '' ? '' : `${folder}/`)
    const names: string[] = []
    for await (const page of this.#pages(head, '/')) {
      const keys = [
        ...(page.CommonPrefixes ?? []).map(({ Prefix }) => Prefix),
        ...filesIn(page).map(({ name }) => name),
      ]
      names.push(...keys.map((name = '') => name.slice(head.length).replace(/\/$/, '')))
    }
    return names.filter((name) => name !== '')
  }

  async put(key: string, text: string): Promise<void> {
    this.#requireHeld(key)
    if (!this.#tags.has(key)) await this.stat(key)
    const tag = await this.#putIfMatch(key, Buffer.from(text), this.#tags.get(key) ?? null)
    this.#tags.set(key, tag)
  }

  /** Uploads the manifest last: without it, the folder is no snapshot. */
  async moveIn(
    from: string,
    key: string,
    existingKeys: ReadonlyMap<string, string> = new Map(),
  ): Promise<void> {
    this.#requireHeld(key)
    if ((await stat(from)).isFile()) {
      await this.#upload(from, key)
      await rm(from)
      return
    }
    const names = await readdir(from)
    const otherNames = names.filter((name) => name !== fileNames.manifest)
    for (const name of [...otherNames, ...names.filter((candidate) => candidate === fileNames.manifest)]) {
      // If another job held the lock, it would remove these files as a killed job's remains.
      this.#requireHeld(key)
      const existingKey = existingKeys.get(name)
      const isCopied = existingKey !== undefined && (await this.#copy(existingKey, `${key}/${name}`))
      if (!isCopied) await this.#upload(path.join(from, name), `${key}/${name}`)
    }
    await rm(from, { recursive: true })
  }

  async remove(key: string): Promise<void> {
    this.#requireHeld(key)
    const [first, ...files] = await this.#below(key)
    if (first !== undefined) await this.#delete(first.key)
    const removing = inOrder(files, transfersMax, (file) => this.#delete(file.key))
    while ((await removing.next()).done !== true);
    this.#files.forget(key)
  }

  place(key: string): string {
    return this.#files.placeOf(key)
  }

  pin(files: readonly PinnedFile[]): Promise<() => void> {
    return this.#files.hold(files)
  }

  hasRoomFor(file: PinnedFile): Promise<boolean> {
    return this.#files.hasRoomFor(file)
  }

  markSuspect(folder: string): void {
    this.#files.distrust(folder)
  }

  async lock(folder: string): Promise<() => Promise<void>> {
    const name = folder === '' ? 'warehouse' : folder.replaceAll('/', '.')
    const lease = await Lease.acquire(this.#leased(`.locks/${name}`), this.#lease)
    this.#heldLeases.set(folder, lease)
    // The previous holder may have written since this process last read.
    for (const key of this.#tags.keys()) if (isIn(key, folder)) this.#tags.delete(key)
    return async () => {
      this.#heldLeases.delete(folder)
      await lease.release()
    }
  }

  /** A job must stop when its lease has expired, such as by a suspension: another may be running. */
  #requireHeld(key: string): void {
    for (const [folder, lease] of this.#heldLeases) if (isIn(key, folder)) lease.require()
  }

  #leased(key: string): LeaseFile {
    return {
      address: `${this.address}/${key}`,
      create: (text) => this.#putIfMatch(key, Buffer.from(text), null),
      replace: (text, tag) => this.#putIfMatch(key, Buffer.from(text), tag),
      read: async () => {
        const bytes = await this.get(key)
        const tag = this.#tags.get(key) ?? null
        return bytes === null || tag === null ? null : { text: bytes.toString(), tag }
      },
      remove: () => this.#delete(key),
    }
  }

  /**
   * Writes a file if its tag is still the expected one.
   * @param tag null for a new file
   * @returns the new tag
   * @throws WriteConflict
   */
  async #putIfMatch(key: string, bytes: Buffer, tag: string | null): Promise<string> {
    const condition = tag === null ? { IfNoneMatch: '*' } : { IfMatch: tag }
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { sdk, client } = await this.#open()
        const answer = await client.send(
          new sdk.PutObjectCommand({ ...this.#at(key), ...condition, Body: bytes, ContentMD5: md5Of(bytes) }),
        )
        return answer.ETag ?? ''
      } catch (error) {
        if (errorName(error) === 'ConditionalRequestConflict' && attempt < attemptsMax) continue
        if (!isRefused(error)) throw new StoreFailure(`${this.address}/${key}`, error)
        // The file may come from this very request, whose answer was lost.
        const current = await this.get(key)
        if (current?.equals(bytes) === true) return this.#tags.get(key) ?? ''
        throw new WriteConflict(`${this.address}/${key}`)
      }
    }
  }

  /** Returns false if the store or the permissions do not allow a copy. */
  async #copy(from: string, key: string): Promise<boolean> {
    const { Bucket, Key } = this.#at(from)
    const source = [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/')
    try {
      const { sdk, client } = await this.#open()
      await client.send(new sdk.CopyObjectCommand({ ...this.#at(key), CopySource: source }))
      return true
    } catch {
      return false
    }
  }

  async #upload(file: string, key: string): Promise<void> {
    const handle = await open(file)
    try {
      const { size } = await handle.stat()
      if (size <= pieceBytes) await this.#send(key, await pieceOf(handle, 0, size))
      else await this.#sendPieces(key, handle, size)
    } catch (error) {
      throw new StoreFailure(`${this.address}/${key}`, error)
    } finally {
      await handle.close()
    }
  }

  async #send(key: string, bytes: Buffer): Promise<void> {
    const { sdk, client } = await this.#open()
    await client.send(new sdk.PutObjectCommand({ ...this.#at(key), Body: bytes, ContentMD5: md5Of(bytes) }))
  }

  async #sendPieces(key: string, handle: FileHandle, size: number): Promise<void> {
    const { sdk, client } = await this.#open()
    const target = this.#at(key)
    const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(target))
    try {
      const parts: { ETag: string | undefined; PartNumber: number }[] = []
      for (let start = 0; start < size; start += pieceBytes) {
        const bytes = await pieceOf(handle, start, Math.min(size, start + pieceBytes))
        const PartNumber = parts.length + 1
        const { ETag } = await client.send(
          new sdk.UploadPartCommand({
            ...target,
            UploadId,
            PartNumber,
            Body: bytes,
            ContentMD5: md5Of(bytes),
          }),
        )
        parts.push({ ETag, PartNumber })
      }
      await client.send(
        new sdk.CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts: parts } }),
      )
    } catch (error) {
      // Incomplete uploads would be billed.
      await client.send(new sdk.AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined)
      throw error
    }
  }

  async #delete(key: string): Promise<void> {
    await this.#ask(key, ({ sdk, client }, target) => client.send(new sdk.DeleteObjectCommand(target)))
    this.#tags.set(key, null)
  }

  /**
   * Returns a file, or the files of a folder, the manifest first, so that an interrupted removal leaves
   * nothing that looks complete.
   */
  async #below(key: string): Promise<{ key: string; bytes: number }[]> {
    const prefix = this.#nameOf(key)
    const objects: StoredObject[] = []
    for await (const page of this.#pages(prefix, null))
      objects.push(...filesIn(page).filter(({ name }) => name === prefix || name.startsWith(`${prefix}/`)))
    const isFirst = ({ name }: StoredObject): number => Number(name.endsWith(`/${fileNames.manifest}`))
    return objects
      .toSorted((a, b) => isFirst(b) - isFirst(a))
      .map(({ name, bytes }) => ({ key: name.slice(this.#prefix.length), bytes }))
  }

  async *#pages(prefix: string, delimiter: string | null) {
    let token: string | undefined
    do {
      const page = await this.#ask('', ({ sdk, client }) =>
        client.send(
          new sdk.ListObjectsV2Command({
            Bucket: this.#bucket,
            Prefix: prefix,
            ...(delimiter !== null && { Delimiter: delimiter }),
            ...(token !== undefined && { ContinuationToken: token }),
          }),
        ),
      )
      if (page === null) return
      yield page
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  async #ask<T>(
    key: string,
    request: (open: { sdk: Sdk; client: S3Client }, target: { Bucket: string; Key: string }) => Promise<T>,
  ): Promise<T | null> {
    const connection = await this.#open()
    try {
      return await request(connection, this.#at(key))
    } catch (error) {
      if (['NoSuchKey', 'NotFound'].includes(errorName(error))) return null
      throw new StoreFailure(`${this.address}/${key}`, error)
    }
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#nameOf(key) }
  }

  #nameOf(key: string): string {
    return `${this.#prefix}${key}`
  }

  /** Imports on demand, since most warehouses are folders. */
  #open(): Promise<{ sdk: Sdk; client: S3Client }> {
    // The SDK warns about old Node versions; Acervo pins the SDK and tests it on each supported version.
    process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
    this.#client ??= import('@aws-sdk/client-s3').then((sdk) => ({
      sdk,
      client: new sdk.S3Client({
        region: process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? 'us-east-1',
        // Stores other than Amazon's may not have a host name for each bucket.
        forcePathStyle: hasEndpoint(process.env),
        maxAttempts: attemptsMax,
        // Not every store supports the checksums that the SDK would add.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        requestHandler: {
          connectionTimeout: connectMs,
          requestTimeout: silenceMs,
          throwOnRequestTimeout: true,
        },
      }),
    }))
    return this.#client
  }
}

const noSuchKey = Object.assign(new Error('there is no such file'), { code: 'NoSuchKey' })

function hasEndpoint(environment: NodeJS.ProcessEnv): boolean {
  return (environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'] ?? '') !== ''
}

function isIn(key: string, folder: string): boolean {
  // Files that belong to no table are at the top level.
  return folder === '' ? !key.includes('/') : key.startsWith(`${folder}/`)
}

function isRefused(error: unknown): boolean {
  return errorName(error) === 'PreconditionFailed'
}

function md5Of(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('base64')
}

async function pieceOf(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start)
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, start)
  if (bytesRead !== bytes.length) throw new Error('the file became shorter while it was read')
  return bytes
}

async function readBody({ Body }: GetObjectCommandOutput): Promise<Buffer> {
  return Body === undefined ? Buffer.alloc(0) : Buffer.from(await Body.transformToByteArray())
}

function bodyOf({ Body }: GetObjectCommandOutput): AsyncIterable<Uint8Array> {
  return Body as unknown as AsyncIterable<Uint8Array>
}

function filesIn({ Contents = [] }: ListObjectsV2CommandOutput): StoredObject[] {
  return Contents.flatMap(({ Key: name, Size: bytes = 0 }) => (name === undefined ? [] : [{ name, bytes }]))
}

interface StoredObject {
  readonly name: string
  readonly bytes: number
}
