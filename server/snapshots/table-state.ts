import type { Table } from '../../core/catalog/catalog.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { type Manifest, DamagedManifest } from '../../core/warehouse/manifest.ts'
import type { Snapshot } from './snapshot.ts'
import { codeOf } from '../../core/errors.ts'
import { DamagedFile, MissingFile } from '../../core/warehouse/whole.ts'

/** A snapshot that lies on disk; it is read and verified when it is first asked for. */
export interface KnownSnapshot {
  opened: Promise<Snapshot | null> | null
  /** By file: size, times and inode when it was last read whole. */
  readonly seen: Map<string, string>
}

export function unopened(): KnownSnapshot {
  return { opened: null, seen: new Map() }
}

/** How much was read of the files that have to be. */
export interface Progress {
  /** Of files that are done. */
  bytes: number
  of: number
}

/** What the server knows of one table. */
export interface TableState {
  readonly table: Table
  current: Snapshot | null
  readonly kept: Map<SnapshotId, KnownSnapshot>
  /** The manifest that the pointer last named, whether or not it serves; null before there is one. */
  latest: Manifest | null
  /** What was last taken from the pointer, so that only a change is read. */
  seen: string
  /** Why what is published is not what is served, in words for anyone; null where all is well. */
  fault: string | null
  /** When its report was last read again from the store, in ms. */
  reportReadAt: number
  /** What is done to it, one after the other: a poll must not come between a scrub and what follows from it. */
  turn: Promise<unknown>
  /** While the files of a snapshot are read before it serves; null otherwise. */
  reading: Progress | null
  /** Why the pointer, or a removal, did not work; told once. */
  trouble: string | null
}

export function emptyState(table: Table): TableState {
  return {
    table,
    current: null,
    latest: null,
    kept: new Map(),
    seen: '',
    fault: null,
    reportReadAt: 0,
    turn: Promise.resolve(),
    reading: null,
    trouble: null,
  }
}

/** Works on a table when whoever worked on it before is done. */
export async function inTurn(state: TableState, work: () => Promise<void>): Promise<void> {
  const turn = state.turn.then(work)
  // Whoever waits next must not fail for what went wrong before.
  state.turn = turn.catch(() => undefined)
  await turn
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
