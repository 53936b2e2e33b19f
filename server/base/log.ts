import { pino, type DestinationStream, type Logger } from 'pino'
import { fatalMessage, messageOf } from '../../core/errors.ts'
import type { LogLevel } from '../../core/settings/rows.ts'

export type Log = Logger

/** Writes batches of lines, at most 4 KiB (PIPE_BUF), so that lines of several processes do not mix. */
const batching = { minLength: 3500, maxWrite: 4096, sync: false, periodicFlush: 100 }

/**
 * Logs JSON lines, by default to standard output.
 * @param base fields of every line
 */
export function openLog(level: LogLevel, base: object = {}, stream?: DestinationStream): Log {
  const options = { level, base, timestamp: pino.stdTimeFunctions.isoTime }
  return pino(options, stream ?? pino.destination(batching))
}

/** Writes text to a terminal, else a line of the log to standard error. */
export function logFatal(error: unknown): void {
  const words = fatalMessage(error)
  if (process.stderr.isTTY) {
    console.error(words)
    return
  }
  const log = openLog('fatal', {}, pino.destination({ dest: 2, sync: true }))
  if (typeof words === 'string') log.fatal(words)
  else log.fatal({ err: words }, messageOf(words))
}

/** Node prints warnings as text, also amid the lines of a log. */
export function logWarnings(log: Log): void {
  if (process.stderr.isTTY) return
  process
    .removeAllListeners('warning')
    .on('warning', (warning) => log.warn({ err: warning }, warning.message))
}

/** Formats lines for a terminal; undefined if standard output is not a terminal. */
export async function terminalLines(): Promise<DestinationStream | undefined> {
  if (!process.stdout.isTTY) return undefined
  const { default: pretty } = await import('pino-pretty')
  const colorize = process.stdout.hasColors()
  return pretty({ colorize, sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss', ignore: 'id' })
}
