import type { FieldFacts } from '../convert/cast/trial.ts'
import type { NumberForm } from './numbers.ts'

/** Keys of a field in the catalog except its name: `type`, `scale`, `format` and others. */
export type FieldKeys = Readonly<Record<string, unknown>> & { readonly type: string }

/** A proposed field, which fits all values of the column in the sample. */
export interface SuggestedField {
  readonly keys: FieldKeys
  /**
   * RE2 patterns that every text must match. The type would lose a part of any other text, such as a leading
   * zero.
   */
  readonly spelling?: readonly string[]
  /** Explains the proposal; empty if the question says it all. */
  readonly evidence: (facts: FieldFacts) => string
  /** True if `acervo add` prints the evidence too. */
  readonly isNotable?: boolean
  /** Question for a person, with the keys that answer it; null if the type is certain. */
  readonly question: string | null
  /** Type of nearly all values, if only a few do not fit; the trial counts these on all rows. */
  readonly probe: { readonly keys: FieldKeys; readonly description: string } | null
}

/** Sampled values of a column: each distinct text that is not empty, with its count. */
export interface SeenColumn {
  readonly name: string
  readonly texts: ReadonlyMap<string, number>
  /** True if the field must be text, since other types failed in a trial on all rows. */
  readonly isText?: boolean
  /** True if another column of the file has the words for yes and no. */
  readonly isBesideYesNo?: boolean
  /** True if spaces are around the name of the column in the file. */
  readonly hasPaddedName?: boolean
  /** Decimal separator of the other columns, if they have one. */
  readonly decimal?: NumberForm['decimal'] | null
}

export const formatCount = (count: number): string => count.toLocaleString('en')

/** @param description description of all values, such as `JSON` */
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

/** Returns a text field with a question. */
export function questionField(question: string): SuggestedField {
  return { keys: { type: 'string' }, evidence: () => '', question, probe: null }
}
