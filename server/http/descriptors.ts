import { StartError } from '../../core/errors.ts'
import type { Log } from '../base/log.ts'

const ownDescriptors = 200
const connectionsMin = 20

interface DescriptorNeeds {
  readonly connectionsMax: number
  readonly filesMax: number
}

/** Limit of open files and connections (`ulimit -n`). */
export function descriptorsMax(): number {
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } }
  }
  const soft = Number(report.userLimits?.open_files?.soft)
  return Number.isFinite(soft) ? soft : Infinity
}

/**
 * Configured connections, or fewer: beyond the limit of descriptors, even requests in progress would fail.
 * @throws StartError if there are too few descriptors to serve at all
 */
export function connectionsWithin(
  descriptors: number,
  { connectionsMax, filesMax }: DescriptorNeeds,
  log: Log,
): number {
  const available = descriptors - filesMax - ownDescriptors
  if (available >= connectionsMax) return connectionsMax
  if (available < connectionsMin) {
    throw new StartError(
      `the system allows the service ${descriptors} open files and connections, but it needs at least ` +
        `${filesMax + ownDescriptors + connectionsMin}: raise that limit (ulimit -n), or lower MAX_DOWNLOADS`,
    )
  }
  log.warn(
    { connections: available, wanted: connectionsMax, descriptors },
    'fewer connections than CONNECTIONS, since the system limits open files: raise that limit (ulimit -n)',
  )
  return available
}
