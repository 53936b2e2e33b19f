import { counted } from '../../core/text.ts'
import type { Frequency } from '../../core/catalog/names.ts'
import type { SeenColumn } from './field.ts'

const states = new Set(
  'AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO BR'.split(' '),
)

const frequencySteps: readonly (readonly [Frequency, from: number, to: number])[] = [
  ['daily', 1, 1],
  ['weekly', 7, 7],
  ['monthly', 28, 31],
  ['quarterly', 89, 92],
  ['annual', 365, 366],
]

const dayMs = 86_400_000

/**
 * Metadata of the dataset as YAML: keys that the file shows, with evidence, and keys that only the author
 * knows.
 * @param days sorted days of each field with dates
 */
export function datasetLines(
  days: ReadonlyMap<string, readonly string[]>,
  columns: readonly SeenColumn[],
): string[] {
  return [
    'optional keys of the dataset, for harvesters:',
    ...[...temporalLines(days), ...placeIn(columns)].map((line) => `  ${line}`),
    '  publisher, contact, themes, keywords, language and the units of fields, which the file does not show',
  ]
}

function temporalLines(daysByField: ReadonlyMap<string, readonly string[]>): string[] {
  const [longest] = [...daysByField].toSorted(([, a], [, b]) => b.length - a.length)
  const [name, days] = longest ?? ['', []]
  const [start, end] = [days[0], days.at(-1)]
  if (start === undefined || end === undefined) return []
  const usualGap = mostFrequent(
    days.slice(1).map((day, index) => Math.round((Date.parse(day) - Date.parse(days[index] ?? '')) / dayMs)),
  )
  const frequencyStep = frequencySteps.find(
    ([, least, greatest]) => usualGap >= least && usualGap <= greatest,
  )
  const comment = `# "${name}" usually advances by ${counted(usualGap, 'day')}`
  return [
    `temporal: { start: ${start}, end: ${end} } # the first and the last value of "${name}"`,
    ...(frequencyStep === undefined || days.length < 3 ? [] : [`frequency: ${frequencyStep[0]} ${comment}`]),
  ]
}

function mostFrequent(numbers: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 0
}

function placeIn(columns: readonly SeenColumn[]): string[] {
  const match = columns.find(
    ({ texts }) => texts.size > 1 && [...texts.keys()].every((text) => states.has(text)),
  )
  if (match === undefined) return []
  return [
    `spatial: { name: Brazil, uri: 'https://sws.geonames.org/3469034/' } # all values of "${match.name}" are states of Brazil`,
  ]
}
