import type { SourceForm } from '../../core/catalog/catalog.ts'
import { inOrder } from '../../core/in-order.ts'
import { settledVersion } from '../../core/warehouse/fingerprint.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import type { RecordedHashes } from '../../core/warehouse/state-files.ts'
import type { Source } from '../../core/warehouse/manifest.ts'
import type { PlacedFile } from './member.ts'
import type { ObtainedFile } from './obtain.ts'

/** A change within one tick of a file system may be invisible; FAT has 2 seconds. */
const settledMsDefault = 2500
/** Some file systems report unreliable times, so files are hashed again once a day. */
const believedMsDefault = 86_400_000
const hashedMax = 2

interface HashTrust {
  readonly now: Date
  readonly settledMs?: number | undefined
  readonly believedMs?: number | undefined
}

/** SHA-256 of the files of a source: computed once, or reused from an earlier ingest. */
export class SourceHashes {
  /** Inode, size and times before reading; null if they do not identify the content. */
  readonly #versions: readonly (string | null)[]
  readonly #recorded: RecordedHashes
  readonly #files: readonly PlacedFile[]
  readonly #hashes = new Map<string, Promise<string>>()
  readonly #now: Date

  private constructor(
    files: readonly PlacedFile[],
    versions: readonly (string | null)[],
    recorded: RecordedHashes,
    now: Date,
  ) {
    this.#files = files
    this.#versions = versions
    this.#recorded = recorded
    this.#now = now
  }

  /** @param recorded hashes of an earlier ingest, for unchanged local files */
  static async of(
    obtainedFiles: readonly ObtainedFile[],
    recorded: RecordedHashes,
    { now, settledMs = settledMsDefault, believedMs = believedMsDefault }: HashTrust,
  ): Promise<SourceHashes> {
    const versions: (string | null)[] = []
    // Files from the web are stored only for this ingest, so their times say nothing.
    for (const { file, validators } of obtainedFiles) {
      const isLocal = validators === null
      versions.push(isLocal ? await settledVersion(file.path, settledMs) : null)
    }
    return new SourceHashes(
      obtainedFiles.map(({ file }) => file),
      versions,
      new Map([...recorded].filter(([, { at }]) => now.getTime() - Date.parse(at) < believedMs)),
      now,
    )
  }

  async are(sums: readonly string[]): Promise<boolean> {
    if (sums.length !== this.#files.length) return false
    let place = 0
    for await (const sum of this.#sums()) {
      if (sum !== sums[place]) return false
      place += 1
    }
    return true
  }

  /** Returns whether a snapshot with these sources was made from the obtained files. */
  async areOf(
    sources: readonly Source[],
    obtainedFiles: readonly ObtainedFile[],
    { fromName }: Pick<SourceForm, 'fromName'>,
  ): Promise<boolean> {
    const areAlike = obtainedFiles.every(({ file }, index) => {
      const before = sources[index]
      return before?.bytes === file.bytes && (fromName === null || before.name === file.name)
    })
    return areAlike && (await this.are(sources.map(({ sha256 }) => sha256)))
  }

  async files(): Promise<{ readonly name: string; readonly sha256: string }[]> {
    const files: { name: string; sha256: string }[] = []
    for await (const sha256 of this.#sums())
      files.push({ name: this.#files[files.length]?.name ?? '', sha256 })
    return files
  }

  #sums(): AsyncGenerator<string> {
    return inOrder(this.#files.keys(), hashedMax, (place) => this.#hash(place))
  }

  async #hash(place: number): Promise<string> {
    const { path: file = '' } = this.#files[place] ?? {}
    const version = this.#versions[place] ?? null
    const previous = version === null ? undefined : this.#recorded.get(version)
    const hash =
      this.#hashes.get(file) ?? (previous === undefined ? hashOf(file) : Promise.resolve(previous.sha256))
    this.#hashes.set(file, hash)
    return hash
  }

  /**
   * Hashes to record for the next ingest.
   * @param sources as they were read, in order
   */
  recordOf(sources: readonly Source[]): RecordedHashes {
    const at = this.#now.toISOString()
    return new Map(
      this.#versions.flatMap((version, place) => {
        const { sha256 } = sources[place] ?? {}
        if (version === null || sha256 === undefined) return []
        const previous = this.#recorded.get(version)
        return [[version, previous?.sha256 === sha256 ? previous : { sha256, at }] as const]
      }),
    )
  }
}
