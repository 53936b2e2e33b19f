import { pino, type DestinationStream, type Logger } from 'pino'
import type { LogLevel } from '../../core/settings/rows.ts'

export type Log = Logger

/**
 * Writes lines in batches, since a system call for each would be slow. A write has at most 4 KiB (PIPE_BUF),
 * so that lines of several processes in a pipe do not mix.
 */
const together = { minLength: 3500, maxWrite: 4096, sync: false, periodicFlush: 100 }

/**
 * Opens a log of JSON lines, on standard output by default.
 * @param base fields of every line
 */
export function openLog(level: LogLevel, base: object = {}, stream?: DestinationStream): Log {
  const options = { level, base, timestamp: pino.stdTimeFunctions.isoTime }
  return pino(options, stream ?? pino.destination(together))
}

/**
 * Returns a stream that formats lines for a terminal and writes each at once; undefined if standard output is
 * no terminal.
 */
export async function terminalLines(): Promise<DestinationStream | undefined> {
  if (!process.stdout.isTTY) return undefined
  const { default: pretty } = await import('pino-pretty')
  const colorize = process.stdout.hasColors()
  return pretty({ colorize, sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss', ignore: 'id' })
}
