import { counted } from '../../core/text.ts'
import type { Encoding } from '../../core/catalog/catalog.ts'
import { decoderOf } from '../source/decode.ts'
import { CR, LF } from '../source/record.ts'
import { bestWay } from './candidates.ts'
import type { EncodingWitness } from './encoding.ts'
import { faultOf, type Candidate } from './reading.ts'

export interface Dialect extends Candidate {
  readonly encoding: Encoding
  readonly lineTerminator: 'lf' | 'cr'
  /** Texts of rows to leave out, by column index. */
  readonly drop: ReadonlyMap<number, readonly string[]>
  readonly skipRepeatedHeaders: boolean
  /** Start of the first line of the footer; null without a characteristic one. */
  readonly stopAt: string | null
  /** True if a person must choose the encoding. */
  readonly isEncodingOpen: boolean
  readonly questions: readonly string[]
  readonly evidence: readonly string[]
}

/**
 * Detects delimiter, quote and lines before the header. A character that encloses values is always a quote,
 * even if another reading gave more columns.
 */
export function dialectOf(
  sample: Buffer,
  isComplete: boolean,
  { encoding, evidence, question = null }: EncodingWitness['encoding'],
): Dialect {
  const decoded = decoderOf(encoding, 'the sample').write(sample)
  const lineTerminator = decoded.includes(CR) && !decoded.includes(LF) ? 'cr' : 'lf'
  const text = lineTerminator === 'lf' ? decoded : decoderOf(encoding, 'the sample', 'cr').write(sample)
  const lacksLastLineFeed = isComplete && text.length > 0 && text.at(-1) !== LF
  const lines = lacksLastLineFeed ? Buffer.concat([text, Buffer.from('\n')]) : text
  const best = bestWay(lines, isComplete)
  const looseQuoteLine = best.quote === null ? lineOfLooseQuote(lines, isComplete, best.delimiter) : 0
  return {
    ...best,
    encoding,
    lineTerminator,
    drop: new Map(),
    skipRepeatedHeaders: false,
    stopAt: best.lastLines === 0 ? null : stopTextOf(text, best.lastLines),
    isEncodingOpen: question !== null,
    questions: [...(question === null ? [] : [question]), ...quoteQuestions(best, text, looseQuoteLine)],
    evidence: [
      evidence,
      ...evidenceOf(best, text, looseQuoteLine),
      ...(lineTerminator === 'cr' ? ['its lines end in carriage returns alone'] : []),
    ],
  }
}

function evidenceOf(best: Candidate, text: Buffer, looseQuoteLine: number): string[] {
  const { delimiter, skipLines, headerLines, firstLine, lastLines, share, commentedHeader } = best
  const phrases: (string | false)[] = [
    `${JSON.stringify(delimiter)} gives ${counted(firstLine.length, 'column')} in ${(100 * share).toFixed(1)} % of the sample`,
    ...quoteEvidence(best, looseQuoteLine),
    skipLines === 1 && 'line 1, before the header, is left out',
    skipLines > 1 && `lines 1 to ${skipLines}, before the header, are left out`,
    headerLines > 1 &&
      `lines ${skipLines + 1} and ${skipLines + 2} are the header, and joined: ${firstLine.join(', ')}`,
    lastLines > 0 &&
      `${lastNumbers(text, lastLines)} at the end ${lastLines === 1 ? 'has one value, and is no row' : 'have one value each, and are no rows'}`,
    commentedHeader !== null && 'the last comment above the rows names the columns',
    best.dropEmptyExtraCells && 'columns at the end without names and values are dropped',
    ...(commentedHeader === null && best.refusal === null ? headerEvidence(best) : []),
  ]
  return phrases.filter((phrase) => phrase !== false)
}

function quoteEvidence({ quote, enclosed }: Candidate, looseQuoteLine: number): string[] {
  if (quote === '"') return []
  return quote === null
    ? [`line ${looseQuoteLine}: a '"' is within a value, so values are not quoted`]
    : [`${JSON.stringify(quote)} quotes the values of ${counted(enclosed, 'line')} of the sample`]
}

/** Asks whether quotes belong to values, if other values make quoting impossible. */
function quoteQuestions(
  { quote, delimiter, skipLines }: Candidate,
  text: Buffer,
  looseQuoteLine: number,
): string[] {
  if (quote !== null) return []
  for (const [index, line] of text.toString('utf8').split(/\r?\n/).entries()) {
    const enclosed =
      index < skipLines ? undefined : line.split(delimiter).find((cell) => /^"(?:[^"]|"")+"$/.test(cell))
    if (enclosed !== undefined)
      return [
        `say whether the quotes of ${enclosed} (line ${index + 1}) are part of the value, as they are now; otherwise correct line ${looseQuoteLine}, in which a quote is within a value, and declare source.quote: '"'`,
      ]
  }
  return []
}

const headerShownMax = 400

function headerEvidence({ skipLines, firstLine: cells, hasHeader }: Candidate): string[] {
  const line = skipLines + 1
  const hasNumbers = cells.some((cell) => /\d/.test(cell) && !/\p{L}/u.test(cell))
  if (hasHeader)
    return hasNumbers
      ? [`line ${line} is the header, since its numbers are in order, or unlike the values below`]
      : []
  const cellsJson = JSON.stringify(cells)
  const remedy =
    cellsJson.length > headerShownMax
      ? ''
      : `; if it is the header, declare source.header_in_file: ${cellsJson}`
  return [
    `line ${line} has numbers, dates or empty cells, so it seems to be a row, and header names the columns${remedy}`,
  ]
}

const stopTextMax = 40

/** Ends before a digit, since dates change; null if a row starts with it. */
function stopTextOf(text: Buffer, lastLines: number): string | null {
  const lines = text
    .toString('utf8')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
  const [start = ''] = /^[^\d:]*:?/.exec(lines.at(-lastLines) ?? '') ?? []
  const words = start.length > stopTextMax ? start.slice(0, start.lastIndexOf(' ', stopTextMax)) : start
  const stopText = words.replace(/(?<![\s,;|])[\s,;|]+$/, '')
  const isCharacteristic = (stopText.match(/\p{L}/gu)?.length ?? 0) >= 4
  const startsRow = lines.slice(0, -lastLines).some((line) => line.startsWith(stopText))
  return isCharacteristic && !startsRow ? stopText : null
}

function lastNumbers(text: Buffer, count: number): string {
  const lines = text.toString('latin1').split('\n')
  const numbers = lines.flatMap((line, index) => (line.trim() === '' ? [] : [index + 1])).slice(-count)
  return `${count === 1 ? 'line' : 'lines'} ${numbers.join(', ')}`
}

function lineOfLooseQuote(text: Buffer, isComplete: boolean, delimiter: string): number {
  const fault = faultOf(text, isComplete, { delimiter: delimiter.charCodeAt(0), quote: '"'.charCodeAt(0) })
  return fault?.line ?? text.toString('latin1').split('"', 1)[0]?.split('\n').length ?? 0
}
