import type { DatasetDescription, TableDescription, Writing } from './description.ts'

/**
 * A document for machines. To add one, write a file and a line of `registry.ts`: the route, the line in
 * OpenAPI and links to it follow.
 */
export interface MachineDocument<View> {
  readonly file: string
  readonly name: string
  readonly description: string
  /** Media type with parameters, as in Content-Type. */
  readonly contentType: string
  readonly write: (writing: Writing, view: View) => string | Uint8Array | Promise<Uint8Array>
}

export type TableDocument = MachineDocument<TableDescription>
/** A document about the whole service, at its root. */
export type WholeDocument = MachineDocument<readonly DatasetDescription[]>
export type DatasetDocument = MachineDocument<DatasetDescription>
