import { StartError } from '../../core/errors.ts'
import type { Log } from '../base/log.ts'

/** What the process has open besides connections and files that are sent: parts that are read, the log, Node's own. */
const ownDescriptors = 200
/** With fewer a service is of no use. */
const connectionsMin = 20

interface DescriptorNeeds {
  readonly connectionsMax: number
  readonly filesMax: number
}

/** Files and connections that the system lets the process have open (`ulimit -n`). */
export function descriptorsMax(): number {
  const report = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } }
  }
  const soft = Number(report.userLimits?.open_files?.soft)
  return Number.isFinite(soft) ? soft : Infinity
}

/**
 * As many connections as were asked for, or as there are descriptors for: past the limit of the system even readers who
 * are served would fail.
 *
 * @throws StartError where there are too few for any service
 */
export function connectionsWithin(
  descriptors: number,
  { connectionsMax, filesMax }: DescriptorNeeds,
  log: Log,
): number {
  const left = descriptors - filesMax - ownDescriptors
  if (left >= connectionsMax) return connectionsMax
  if (left < connectionsMin) {
    throw new StartError(
      `the system lets the service have ${descriptors} files and connections open, and it needs ` +
        `${filesMax + ownDescriptors + connectionsMin} at least: raise it (ulimit -n), or lower MAX_DOWNLOADS`,
    )
  }
  log.warn(
    { connections: left, wanted: connectionsMax, descriptors },
    'fewer connections than CONNECTIONS, since the system lets so few files be open: raise it (ulimit -n)',
  )
  return left
}
