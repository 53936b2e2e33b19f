import type { DatasetDescription, TableDescription, Writing } from './description.ts'

/** A new document needs a file and a line in `registry.ts`; route, OpenAPI entry and links follow. */
export interface MachineDocument<View> {
  readonly file: string
  readonly name: string
  readonly description: string
  readonly contentType: string
  readonly write: (writing: Writing, view: View) => string | Uint8Array | Promise<Uint8Array>
}

export type TableDocument = MachineDocument<TableDescription>
export type WholeDocument = MachineDocument<readonly DatasetDescription[]>
export type DatasetDocument = MachineDocument<DatasetDescription>
