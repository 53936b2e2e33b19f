import { TableFailure } from '../base/rejects.ts'
import { commonDelimiters } from '../source/soundness.ts'
import { filledIn } from './header.ts'
import { consistentShare, faultOf, readingOf, type Candidate } from './reading.ts'

const linesCompared = 100

/**
 * Refuses texts whose best reading would lose data.
 * @throws TableFailure with the line, and a way to keep the data
 */
export function requireReadable(text: Buffer, isComplete: boolean, best: Candidate): void {
  requireNoErrorPage(text, isComplete, best)
  requireNoOtherSeparator(text, best)
  requireNoEscapes(text, best)
  requireNoOddQuotes(text, isComplete, best)
}

function requireNoOddQuotes(text: Buffer, isComplete: boolean, { quote, delimiter }: Candidate): void {
  if (quote !== null) return
  const fault = faultOf(text, isComplete, { delimiter: delimiter.charCodeAt(0), quote: '"'.charCodeAt(0) })
  const lines = text
    .toString('utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '')
  const sign = delimiter === '|' ? String.raw`\|` : delimiter
  const enclosedValue = new RegExp(`(?:^|${sign})"(?:[^"]|"")*"(?:${sign}|$)`)
  const linesWithEnclosed = lines.filter((line) => enclosedValue.test(line))
  if (fault === null || linesWithEnclosed.length < lines.length / 2) return
  throw new TableFailure(
    `line ${fault.line}: ${fault.reason}, although most values are quoted with ": fix the line, or declare quote: none if quotes are part of the values`,
  )
}

/**
 * Leaves out a header with fewer columns than nearly all rows, whose values probably contain the delimiter. A
 * person must name the columns before anything is published.
 */
export function refuseShortHeader(text: Buffer, isComplete: boolean, best: Candidate): Candidate {
  const { quote, delimiter, comment, skipLines, firstLine, rows, share } = best
  if (share > 1 - consistentShare || firstLine.length < 2 || filledIn(firstLine) < firstLine.length)
    return best
  const marks = { delimiter: delimiter.charCodeAt(0), quote: quote?.charCodeAt(0) ?? -1 }
  const readingBelow = readingOf(text, isComplete, { marks, skipLines: skipLines + 1, comment })
  if (readingBelow === null || readingBelow.firstLine.length <= firstLine.length) return best
  if (readingBelow.rowsLikeHeader < consistentShare * readingBelow.rows) return best
  const lines = text.toString('utf8').split(/\r?\n/)
  const rowLines = lines.slice(skipLines + 1).filter((line) => line !== '')
  // Empty cells at the end of every row are dropped.
  if (rowLines.every((line) => line.endsWith(delimiter))) return best
  const escapedLines = lines.slice(skipLines).filter((line) => line.includes(`\\${delimiter}`)).length
  const explanation =
    escapedLines >= rows / 2
      ? `a backslash before ${JSON.stringify(delimiter)} is not an escape in CSV (RFC 4180)`
      : /[“”„]/.test(lines[skipLines] ?? '')
        ? 'curly quotes (“ ”) enclose no values in CSV, so replace them by "'
        : `enclose values that contain ${JSON.stringify(delimiter)} in ${quote ?? '"'}`
  const names = readingBelow.firstLine.map((_, column) => `column_${column + 1}`)
  const refusal =
    `line ${skipLines + 1} is a header of ${firstLine.length} columns, and the rows below have ${names.length}: ${explanation}; ` +
    `fix the file, or declare source.skip_lines: ${skipLines + 1}, source.header: ${JSON.stringify(names)}, with names of your own`
  return {
    ...best,
    ...readingBelow,
    share: readingBelow.rowsLikeHeader / readingBelow.rows,
    skipLines: skipLines + 1,
    hasHeader: false,
    refusal,
  }
}

const errorPattern =
  /\b(error|exception|not found|forbidden|denied|unauthorized|unavailable|bad (gateway|request)|timed? ?out|too many requests|erro|não (encontrad|autorizad)[oa]|acesso negado)\b/i

function requireNoErrorPage(text: Buffer, isComplete: boolean, { rows, firstLine }: Candidate): void {
  const message = text.toString('utf8').trim()
  if (!isComplete || message.split('\n').length > 2 || !errorPattern.test(message)) return
  if (rows > 0 && (firstLine.length > 1 || !/[^\S\n]/.test(message))) return
  throw new TableFailure(
    `the file is a message, perhaps an error, instead of a table: ${JSON.stringify(message.slice(0, 100))}: fetch the CSV itself`,
  )
}

function requireNoEscapes(text: Buffer, { quote, rows }: Candidate): void {
  if (quote !== null) return
  const lines = text.toString('utf8').split('\n')
  const escaped = /(?:^|[,;\t|])"(?:[^"\\]|\\[^"])*\\"(?:[^"\\]|\\.)*"(?:[,;\t|\r]|$)/
  const lineNumbers = lines.flatMap((line, index) => (escaped.test(line) ? [index + 1] : []))
  if (lineNumbers.length === 0 || lineNumbers.length < (1 - consistentShare) * rows) return
  throw new TableFailure(
    `quotes in values are escaped by backslashes (line ${lineNumbers[0] ?? 1}), which is not valid CSV (RFC 4180); ` +
      'write the file with quotes doubled instead',
  )
}

const rareSeparators = ['^', '~', '\u0001', '¦', '¬', '§', '\u001f']

const repeatedCharacter = /^(.)\1*$/

/** @throws TableFailure if values are separated by something else than one common character */
function requireNoOtherSeparator(text: Buffer, { firstLine, delimiter }: Candidate): void {
  const lines = text
    .toString('utf8')
    .split(/\r?\n/)
    .slice(0, linesCompared)
    .filter((line) => line.trim() !== '')
  if (delimiter === '|' && lines.length > 1 && lines.every((line) => /^\|.*\|$/.test(line.trim())))
    throw new TableFailure(
      'every line begins and ends with "|", as in a table of Markdown: save the table as CSV',
    )
  const [header = '', ...furtherLines] = lines
  const isEverywhere = (separator: string): boolean => {
    const count = header.split(separator).length
    return (
      count > 1 &&
      furtherLines.length > 0 &&
      furtherLines.every((line) => line.split(separator).length === count)
    )
  }
  // If a doubled delimiter is the separator, every second cell is empty.
  const isEverySecondCellEmpty = firstLine.every((cell, index) => index % 2 === 0 || cell === '')
  // Blanks after a delimiter only pad the values.
  const sequences = (header.match(/[|~#^@:;,\t<>§¬¦&=]{2,}/gu) ?? []).filter(
    (sequence) => !/^.\t+$/.test(sequence),
  )
  const separator =
    sequences.find(
      (sequence) =>
        isEverywhere(sequence) &&
        (!repeatedCharacter.test(sequence) || isEverySecondCellEmpty || firstLine.length === 1),
    ) ?? (firstLine.length === 1 ? rareSeparators.find(isEverywhere) : undefined)
  if (separator !== undefined)
    throw new TableFailure(
      `values are separated by ${JSON.stringify(separator)}: write the file with one of ${commonDelimiters.map((sign) => JSON.stringify(sign)).join(', ')} between values`,
    )
  if (firstLine.length === 1 && furtherLines.length > 1 && areAligned(header, furtherLines))
    throw new TableFailure(
      'columns are aligned by blanks, and nothing separates the values: write the file with commas between values',
    )
}

function areAligned(header: string, lines: readonly string[]): boolean {
  return [...header.matchAll(/ (?=[^ ])/g)].some(
    ({ index }) =>
      lines.every((line) => line[index] === ' ' && (line[index + 1] ?? ' ') !== ' ') &&
      lines.some((line) => line[index - 1] === ' '),
  )
}
