import { codeOf } from '../../core/errors.ts'
import { DamagedManifest } from '../../core/warehouse/manifest.ts'
import { DamagedFile, MissingFile } from '../../core/warehouse/whole.ts'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import { fingerprintNow, versionOf } from '../../core/warehouse/fingerprint.ts'
import { fileNames, layout } from '../../core/warehouse/layout.ts'
import { filesOf, holdsFields, type Manifest, type StoredFile } from '../../core/warehouse/manifest.ts'
import { parseReport, readReport, type SnapshotReport } from '../../core/warehouse/report.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { readVerified } from '../../core/warehouse/state-files.ts'
import { requireFiles, type SnapshotFiles } from '../../core/warehouse/whole.ts'
import { rowBytesOf, type Snapshot } from './snapshot.ts'

/** How much was read of the files that have to be. */
export interface Progress {
  /** Of files that are done. */
  bytes: number
  of: number
}

/** What becomes of a snapshot whose files are not what they were. */
interface Watch {
  readonly takeOut: (snapshot: Snapshot, ...why: Parameters<Snapshot['takeOut']>) => void
  readonly doubt: (snapshot: Snapshot, why: string) => void
  /** Told before files are read, and again when they are or cannot be, with null. */
  readonly reading: (progress: Progress | null) => void
}

/**
 * Takes a snapshot if its files are whole and what the catalog declares; those are read that are not what they were
 * when they were last found whole.
 *
 * @param known is told what each file is like
 * @throws Unfit, DamagedFile, or whatever keeps a file from being read
 */
export async function openSnapshot(
  store: Store,
  table: Table,
  manifest: Manifest,
  { seen }: { readonly seen: Map<string, string> },
  watch: Watch,
): Promise<Snapshot> {
  if (!holdsFields(manifest, table)) {
    throw new Unfit(
      `its fields are not those of the catalog: \`make ingest TABLES=${tableId(table)}\` publishes it anew`,
    )
  }
  const key = layout.snapshot(table, manifest.snapshot)
  const folder = store.place(key)
  const stored = new Map(
    filesOf(manifest).map((file) => [file.file, { ...file, key: `${key}/${file.file}` }]),
  )
  const hold: Snapshot['hold'] = store.isElsewhere
    ? (names) => store.hold(names.flatMap((name) => stored.get(name) ?? []))
    : async () => () => undefined
  const verified = await readVerified(store, table, manifest.snapshot)
  const isKnown = (file: string): boolean => seen.get(file) === verified.get(file)
  const unread = ({ file, bytes }: StoredFile): number => (isKnown(file) ? 0 : bytes)
  const progress: Progress = { bytes: 0, of: 0 }
  const files: SnapshotFiles = {
    bytes: async (file) => {
      const found = fingerprintNow(path.join(folder, file))
      seen.set(file, found?.version ?? 'none')
      return found?.bytes ?? null
    },
    hash: async (file) => {
      // Now it is known what each file is like.
      if (progress.of === 0) progress.of = filesOf(manifest).reduce((sum, one) => sum + unread(one), 0)
      watch.reading(progress)
      const hash = await hashOf(path.join(folder, file))
      progress.bytes += stored.get(file)?.bytes ?? 0
      return hash
    },
  }
  // What is brought here is looked at when it comes.
  if (!store.isElsewhere) {
    try {
      await requireFiles(files, manifest, isKnown)
    } finally {
      watch.reading(null)
    }
  }
  const rowBytes = rowBytesOf(manifest)
  const told = new Told(
    store.isElsewhere ? await readReport(store, table, manifest) : () => reportIn(folder, manifest),
  )
  const snapshot: Snapshot = {
    table,
    manifest,
    folder,
    hold,
    get report() {
      return told.report
    },
    get choices() {
      return told.choices
    },
    // Of what lies elsewhere, another copy may be whole.
    takeOut: (error) => (store.isElsewhere ? store.distrust(key) : watch.takeOut(snapshot, error)),
    doubt: (why) => (store.isElsewhere ? store.distrust(key) : watch.doubt(snapshot, why)),
    isUnchanged: (file) => store.isElsewhere || versionOf(path.join(folder, file)) === seen.get(file),
    lastModified: new Date(manifest.import_date).toUTCString(),
    rowBytes,
  }
  return snapshot
}

const noChoices: Snapshot['choices'] = new Map()

/** The report of a snapshot, read when somebody needs it: a start would read that of every table. */
class Told {
  #report: SnapshotReport | null | (() => SnapshotReport | null)
  #choices: Snapshot['choices'] | null = null

  constructor(report: SnapshotReport | null | (() => SnapshotReport | null)) {
    this.#report = report
  }

  get report(): SnapshotReport | null {
    if (typeof this.#report !== 'function') return this.#report
    // What could not be read now may be later.
    const read = this.#report()
    if (read !== null) this.#report = read
    return read
  }

  get choices(): Snapshot['choices'] {
    if (this.#choices !== null || this.report === null) return this.#choices ?? noChoices
    this.#choices = new Map(
      this.report.fields.flatMap(({ name, choices }) =>
        choices === undefined ? [] : [[name, choices] as const],
      ),
    )
    return this.#choices
  }
}

/** Of a folder of this machine: some kilobytes, which are read here and now. */
function reportIn(folder: string, manifest: Manifest): SnapshotReport | null {
  try {
    return parseReport(readFileSync(path.join(folder, fileNames.report)), manifest)
  } catch {
    return null
  }
}

/** What is published does not fit what is declared; the message is for anyone. */
export class Unfit extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Unfit'
  }
}

type Damage = DamagedFile | MissingFile

export function isDamage(error: unknown): error is Damage {
  return error instanceof DamagedFile || error instanceof MissingFile
}

/** Why something is not served, for anyone who asks: no path of the machine is in it. The log says it in full. */
export function reasonOf(error: unknown): string {
  if (isDamage(error) || error instanceof Unfit) return error.message
  if (error instanceof DamagedManifest)
    return 'its manifest is damaged or of an unknown format; run `make ingest` to publish the table anew'
  const code = codeOf(error)
  return `its files cannot be read${code === undefined ? '' : ` (${code})`}; the log says more`
}
