import { pino, type DestinationStream, type Logger } from 'pino'
import type { LogLevel } from '../core/settings.ts'

export type Log = Logger

/** Lines are written together, since one by one they would cost a system call each. */
const together = { minLength: 8192, sync: false, periodicFlush: 100 }

/** JSON lines, on standard output where no other stream is given. */
export function openLog(level: LogLevel, stream?: DestinationStream): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return pino(options, stream ?? pino.destination(together))
}
