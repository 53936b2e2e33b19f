import { isStale, type TableStatus } from '../../snapshots/status.ts'

export interface WatchedTable {
  readonly table: string
  readonly importedAt: number
  readonly sourceFrom: number
  readonly isFaulty: boolean
  readonly isStale: boolean
}

export function publishedTables(statuses: readonly TableStatus[]): WatchedTable[] {
  return statuses
    .filter(({ importedAt, fault }) => importedAt !== null || fault !== null)
    .map((status) => ({
      table: status.table,
      importedAt: status.importedAt?.getTime() ?? Number.NaN,
      sourceFrom: status.sourceFrom?.getTime() ?? Number.NaN,
      isFaulty: status.fault !== null,
      isStale: isStale(status, Date.now()),
    }))
}
