import type { DatasetView, TableView, Writing } from './view.ts'

/**
 * A document for machines. A new one is a file that says it, and a line of `registry.ts`: its route, its line in OpenAPI and
 * the links to it follow.
 */
export interface MachineDocument<View> {
  /** The end of its address. */
  readonly file: string
  /** Told to OPTIONS, and to whoever lists documents. */
  readonly name: string
  readonly description: string
  /** With its parameters, as in Content-Type. */
  readonly contentType: string
  readonly write: (writing: Writing, view: View) => string | Uint8Array | Promise<Uint8Array>
}

export type TableDocument = MachineDocument<TableView>
/** Of the whole service, at its root. */
export type WholeDocument = MachineDocument<readonly DatasetView[]>
export type DatasetDocument = MachineDocument<DatasetView>
