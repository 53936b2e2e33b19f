import { codeOf } from '../../core/errors.ts'
import {
  DamagedManifest,
  filesOf,
  holdsFields,
  type Manifest,
  type StoredFile,
} from '../../core/warehouse/manifest.ts'
import {
  DamagedFile,
  MissingFile,
  verifyFiles,
  type SnapshotFiles,
} from '../../core/warehouse/verify-files.ts'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import { fingerprintNow, versionOf } from '../../core/warehouse/fingerprint.ts'
import { fileNames, layout } from '../../core/warehouse/layout.ts'
import { parseReport, readReport, type SnapshotReport } from '../../core/warehouse/report.ts'
import { republishCommand } from '../../core/warehouse/schema-change.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { readVerified } from '../../core/warehouse/state-files.ts'
import { rowBytesOf, type Snapshot } from './snapshot.ts'

export interface ReadProgress {
  bytes: number
  of: number
}

interface Watch {
  readonly withdraw: (snapshot: Snapshot, ...args: Parameters<Snapshot['withdraw']>) => void
  readonly doubt: (snapshot: Snapshot, reason: string) => void
  /** Null after the files are read. */
  readonly reading: (progress: ReadProgress | null) => void
}

/**
 * Opens a snapshot if its files are intact and match the declaration; reads only files changed since their
 * verification.
 * @param known records the version of each verified file
 * @throws Unfit, DamagedFile, or the error of reading a file
 */
export async function openSnapshot(
  store: Store,
  table: Table,
  manifest: Manifest,
  { fileVersions }: { readonly fileVersions: Map<string, string> },
  watch: Watch,
): Promise<Snapshot> {
  if (!holdsFields(manifest, table)) {
    const command = republishCommand(table, manifest)
    throw new Unfit(`its fields differ from the catalog: ${command} publishes it again`)
  }
  const key = layout.snapshot(table, manifest.snapshot)
  const folder = store.place(key)
  const storedFiles = new Map(
    filesOf(manifest).map((file) => [file.file, { ...file, key: `${key}/${file.file}` }]),
  )
  const hold: Snapshot['pin'] = store.isRemote
    ? (names) => store.pin(names.flatMap((name) => storedFiles.get(name) ?? []))
    : async () => () => undefined
  const verified = await readVerified(store, table, manifest.snapshot)
  const isKnown = (file: string): boolean => fileVersions.get(file) === verified.get(file)
  const unread = ({ file, bytes }: StoredFile): number => (isKnown(file) ? 0 : bytes)
  const progress: ReadProgress = { bytes: 0, of: 0 }
  const files: SnapshotFiles = {
    bytes: async (file) => {
      const fingerprint = fingerprintNow(path.join(folder, file))
      fileVersions.set(file, fingerprint?.version ?? 'none')
      return fingerprint?.bytes ?? null
    },
    hash: async (file) => {
      // All versions are known now, and with them the files to read.
      if (progress.of === 0)
        progress.of = filesOf(manifest).reduce((sum, storedFile) => sum + unread(storedFile), 0)
      watch.reading(progress)
      const hash = await hashOf(path.join(folder, file))
      progress.bytes += storedFiles.get(file)?.bytes ?? 0
      return hash
    },
  }
  // Files of a remote store are verified when they are fetched.
  if (!store.isRemote) {
    try {
      await verifyFiles(files, manifest, isKnown)
    } finally {
      watch.reading(null)
    }
  }
  const rowBytes = rowBytesOf(manifest)
  const lazyReport = new LazyReport(
    store.isRemote ? await readReport(store, table, manifest) : () => reportIn(folder, manifest),
    table.minGroupSize,
  )
  const snapshot: Snapshot = {
    table,
    manifest,
    folder,
    pin: hold,
    get report() {
      return lazyReport.report
    },
    get choices() {
      return lazyReport.choices
    },
    // In a remote store, the original may be intact: only the local copy is verified again.
    withdraw: (error) => (store.isRemote ? store.markSuspect(key) : watch.withdraw(snapshot, error)),
    recheck: (reason) => (store.isRemote ? store.markSuspect(key) : watch.doubt(snapshot, reason)),
    isUnchanged: (file) => store.isRemote || versionOf(path.join(folder, file)) === fileVersions.get(file),
    lastModified: new Date(manifest.import_date).toUTCString(),
    rowBytes,
  }
  return snapshot
}

const noChoices: Snapshot['choices'] = new Map()

/** Read on demand, so that a start needs no reports. */
class LazyReport {
  #report: SnapshotReport | null | (() => SnapshotReport | null)
  #choices: Snapshot['choices'] | null = null

  /** @param minGroupSize number of rows below which groups are hidden */
  constructor(report: SnapshotReport | null | (() => SnapshotReport | null), minGroupSize: number) {
    const shown = (complete: SnapshotReport | null) => complete && withoutFewRows(complete, minGroupSize)
    this.#report = typeof report === 'function' ? () => shown(report()) : shown(report)
  }

  get report(): SnapshotReport | null {
    if (typeof this.#report !== 'function') return this.#report
    // Do not cache a failure: a later attempt may succeed.
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

function withoutFewRows(report: SnapshotReport, min: number): SnapshotReport {
  if (min < 2) return report
  return {
    ...report,
    fields: report.fields.map(({ choices: _choices, min: _min, max: _max, top, histogram, ...field }) => ({
      ...field,
      ...(top !== undefined && { top: top?.filter(({ rows }) => rows >= min) ?? null }),
      ...(histogram?.every(({ rows }) => rows === 0 || rows >= min) === true && { histogram }),
    })),
  }
}

/** Reads synchronously for getters; a report has a few kilobytes. */
function reportIn(folder: string, manifest: Manifest): SnapshotReport | null {
  try {
    return parseReport(readFileSync(path.join(folder, fileNames.report)), manifest)
  } catch {
    return null
  }
}

/** The published table does not match its declaration; the message is safe for clients. */
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

/** Omits paths of this machine; the log has the details. */
export function reasonOf(error: unknown): string {
  if (isDamage(error) || error instanceof Unfit) return error.message
  if (error instanceof DamagedManifest) return `its manifest ${error.fault}`
  const code = codeOf(error)
  return `its files cannot be read${code === undefined ? '' : ` (${code})`}; the log says more`
}
