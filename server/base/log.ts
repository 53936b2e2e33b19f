import { pino, type DestinationStream, type Logger } from 'pino'
import type { LogLevel } from '../../core/settings/rows.ts'

export type Log = Logger

/**
 * Lines are written together, since one by one they would cost a system call each, and so many bytes at once that they
 * do not mix with those of another process in a pipe (PIPE_BUF).
 */
const together = { minLength: 3500, maxWrite: 4096, sync: false, periodicFlush: 100 }

/**
 * JSON lines, on standard output where no other stream is given.
 *
 * @param base what every line has
 */
export function openLog(level: LogLevel, base: object = {}, stream?: DestinationStream): Log {
  const options = { level, base, timestamp: pino.stdTimeFunctions.isoTime }
  return pino(options, stream ?? pino.destination(together))
}

/** Where people look, lines that they can read, each as soon as it is written; undefined elsewhere. */
export async function linesForPeople(): Promise<DestinationStream | undefined> {
  if (!process.stdout.isTTY) return undefined
  const { default: pretty } = await import('pino-pretty')
  return pretty({ colorize: true, sync: true, singleLine: true, translateTime: 'SYS:HH:MM:ss', ignore: 'id' })
}
