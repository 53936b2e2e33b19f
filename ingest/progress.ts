/** How far a table is; every call is cheap. */
export interface Progress {
  /** A new step of the work, such as `reading`. */
  readonly step: (name: string) => void
  /** `fraction` of the step from 0 to 1; rows and bytes so far where the step counts them. */
  readonly advance: (state: { fraction: number; rows?: number; bytes?: number }) => void
  /** A line that stays. */
  readonly say: (line: string) => void
  /** The work is over. */
  readonly end: () => void
}

interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write: (text: string) => unknown
}

/** A terminal gets one line that renews itself; anything else gets a plain line once in a while. */
const terminalEveryMs = 100
const plainEveryMs = 5000

export function progressOn(screen: Screen, table: string, now: () => number = Date.now): Progress {
  const onTerminal = screen.isTTY === true
  const everyMs = onTerminal ? terminalEveryMs : plainEveryMs
  let [step, since, shown] = ['', now(), onTerminal ? 0 : now()]
  const clear = (): void => {
    if (onTerminal) screen.write('\r\u001B[K')
  }
  return {
    step: (name) => {
      step = name
      since = now()
    },
    advance: (state) => {
      if (now() - shown < everyMs) return
      shown = now()
      const line = `${table}: ${step} ${describe(state, (shown - since) / 1000)}`
      if (!onTerminal) screen.write(`${line}\n`)
      else screen.write(`\r\u001B[K${line.slice(0, (screen.columns || 80) - 1)}`)
    },
    say: (line) => {
      clear()
      screen.write(`${line}\n`)
    },
    end: clear,
  }
}

export const silentProgress: Progress = { step: () => {}, advance: () => {}, say: () => {}, end: () => {} }

function describe(state: { fraction: number; rows?: number; bytes?: number }, seconds: number): string {
  const fraction = Math.min(1, Math.max(0, state.fraction))
  const words = [`${Math.floor(fraction * 100)} %`]
  if (state.rows !== undefined) words.push(`${state.rows.toLocaleString('en')} rows`)
  if (state.bytes !== undefined && seconds >= 1)
    words.push(`${(state.bytes / 1e6 / seconds).toFixed(0)} MB/s`)
  if (fraction > 0.01 && seconds >= 1) words.push(`${timeLeft((seconds * (1 - fraction)) / fraction)} left`)
  return words.join(', ')
}

function timeLeft(seconds: number): string {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}
