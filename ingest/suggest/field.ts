import type { FieldFacts } from '../convert/cast/trial.ts'
import type { NumberForm } from './numbers.ts'

export type FieldKeys = Readonly<Record<string, unknown>> & { readonly type: string }

/** Fits all values of the column in the sample. */
export interface SuggestedField {
  readonly keys: FieldKeys
  /** RE2 patterns for every text: the type would lose a part of other texts, such as a leading zero. */
  readonly spelling?: readonly string[]
  /** Empty if the question says it all. */
  readonly evidence: (facts: FieldFacts) => string
  readonly isNotable?: boolean
  /** Names the keys that answer it; null if the type is certain. */
  readonly question: string | null
  /** Type of nearly all values; the trial counts the others on all rows. */
  readonly probe: { readonly keys: FieldKeys; readonly description: string } | null
}

/** Distinct non-empty sampled texts, with their counts. */
export interface SeenColumn {
  readonly name: string
  readonly texts: ReadonlyMap<string, number>
  /** Other types failed in a trial on all rows. */
  readonly isText?: boolean
  readonly isBesideYesNo?: boolean
  readonly hasPaddedName?: boolean
  /** Decimal separator of the other columns, if they have one. */
  readonly decimal?: NumberForm['decimal'] | null
  /** True if days precede months in the other columns; null if unknown. */
  readonly isDayFirst?: boolean | null
}

export const formatCount = (count: number): string => count.toLocaleString('en')

/** @param description of all values, such as `JSON` */
export function typedField(
  keys: FieldKeys,
  description: string | ((facts: FieldFacts) => string),
  spelling: readonly string[] = [],
): SuggestedField {
  const evidence = (facts: FieldFacts): string =>
    `all ${formatCount(facts.filled)} values are ${typeof description === 'string' ? description : description(facts)}`
  return { keys, spelling, evidence, question: null, probe: null }
}

export function plainString(evidence: SuggestedField['evidence']): SuggestedField {
  return { keys: { type: 'string' }, evidence, question: null, probe: null }
}

export function questionField(question: string): SuggestedField {
  return { keys: { type: 'string' }, evidence: () => '', question, probe: null }
}
