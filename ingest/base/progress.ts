export interface Progress {
  readonly step: (name: string) => void
  /** Reports the share of the step from 0 to 1, and rows and bytes if counted. */
  readonly advance: (state: State) => void
  readonly log: (line: string) => void
  readonly end: () => void
}

export interface StepOptions {
  /** The step shows its progress itself; otherwise, that of DuckDB is shown. */
  readonly reportsProgress: boolean
}

interface State {
  readonly fraction: number
  readonly rows?: number
  readonly bytes?: number
}

interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write: (text: string) => unknown
}

/** Terminals are redrawn often; other outputs get new lines rarely. */
const terminalEveryMs = 100
const plainEveryMsDefault = 5000

export class Board {
  readonly #screen: Screen
  readonly #now: () => number
  readonly #plainEveryMs: number
  readonly #activeLines = new Map<string, string>()
  #drawnAt = 0

  constructor(screen: Screen, now: () => number = Date.now, plainEveryMs = plainEveryMsDefault) {
    this.#screen = screen
    this.#now = now
    this.#plainEveryMs = plainEveryMs
  }

  progress(table: string): Progress {
    let [step, startedAt, printedAt] = ['', this.#now(), this.#now()]
    return {
      step: (name) => {
        step = name
        startedAt = this.#now()
        this.#activeLines.set(table, `${table}: ${step}`)
      },
      advance: (state) => {
        const now = this.#now()
        const line = (): string => `${table}: ${step} ${describe(state, (now - startedAt) / 1000)}`
        if (this.#screen.isTTY === true) {
          if (now - this.#drawnAt < terminalEveryMs) return
          this.#activeLines.set(table, line())
          this.#draw(now)
        } else if (now - printedAt >= this.#plainEveryMs) {
          printedAt = now
          this.#screen.write(`${line()}\n`)
        }
      },
      log: (line) => this.above(() => this.#screen.write(`${line}\n`)),
      end: () => {
        this.#activeLines.delete(table)
        this.#clear()
      },
    }
  }

  above(write: () => void): void {
    this.#clear()
    write()
  }

  #clear(): void {
    if (this.#screen.isTTY === true) this.#screen.write('\r\u001B[K')
  }

  #draw(now: number): void {
    this.#drawnAt = now
    const line = [...this.#activeLines.values()].join(' | ')
    this.#screen.write(`\r\u001B[K${line.slice(0, (this.#screen.columns || 80) - 1)}`)
  }
}

export const silentProgress: Progress = { step: () => {}, advance: () => {}, log: () => {}, end: () => {} }

function describe(state: State, seconds: number): string {
  const fraction = Math.min(1, Math.max(0, state.fraction))
  const words = [`${Math.floor(fraction * 100)} %`]
  if (state.rows !== undefined && state.rows > 0) words.push(`${state.rows.toLocaleString('en')} rows`)
  if (state.bytes !== undefined && seconds >= 1)
    words.push(`${(state.bytes / 1e6 / seconds).toFixed(0)} MB/s`)
  if (fraction > 0.01 && seconds >= 1) words.push(`${timeLeft((seconds * (1 - fraction)) / fraction)} left`)
  return words.join(', ')
}

function timeLeft(seconds: number): string {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}
