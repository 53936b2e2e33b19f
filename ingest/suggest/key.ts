import { typeRow, type FieldType } from '../../core/catalog/field-types.ts'
import { foldText } from '../../core/folding.ts'
import type { SampleRow } from '../dialect/sample.ts'
import type { FieldKeys } from './field.ts'
import { isSummable, type FieldTexts } from './titles.ts'

export interface SuggestedKey {
  readonly names: readonly string[]
  readonly rows: number
}

const [candidatesMax, keyFieldsMax] = [8, 3]

/** Each compared key takes 8 bytes a row. */
const keysMax = 16

interface Candidate {
  readonly name: string
  readonly keys: FieldKeys
  readonly texts?: FieldTexts
  readonly nulls: number
}

/** Folded names of numbers that identify or date rows, in Portuguese and English. */
const identifierPattern =
  /(?:^|[^a-z])(?:id|cod|codigo|code|num|numero|number|nr|no|n|seq|ordem|ano|year|mes|month|dia|day|ibge|cep|zip)(?:[^a-z]|$)/

/** Groups of fields that are unique and never null: first those without counts, then those of fewest fields. */
export function keysOf(
  rows: readonly SampleRow[],
  fields: readonly Candidate[],
  keyCountMax: number = keysMax,
): string[][] {
  const candidates = fields
    .flatMap(({ name, keys, texts = {}, nulls }, column) => {
      const { isOrdered, isText } = typeRow(keys.type as FieldType)
      const hasKeyType = isText || keys.type === 'integer' || keys.type === 'date' || keys.type === 'datetime'
      const isFilled = rows.every(({ values }) => (values[column]?.trim() ?? '') !== '')
      const canIdentify =
        isOrdered && hasKeyType && keys.type !== 'text' && !isSummable(texts, { type: keys.type })
      const isCount = keys.type === 'integer' && column > 0 && !identifierPattern.test(foldText(name))
      return canIdentify && isFilled && nulls === 0 ? [{ name, column, isCount }] : []
    })
    .slice(0, candidatesMax)
  const isUnique = (columns: readonly number[]): boolean => {
    const seenKeys = new Set(
      rows.map(({ values }) => JSON.stringify(columns.map((column) => values[column]?.trim()))),
    )
    return seenKeys.size === rows.length
  }
  if (rows.length < 2) return []
  const uniqueKeys: (typeof candidates)[] = []
  const namesOfKeys = (): string[][] =>
    uniqueKeys
      .toSorted((a, b) => countsIn(a) - countsIn(b))
      .slice(0, keyCountMax)
      .map((key) => key.map(({ name }) => name))
  const isEnough = (): boolean =>
    uniqueKeys.length === keysMax || uniqueKeys.filter((key) => countsIn(key) === 0).length === keyCountMax
  let combinations: (typeof candidates)[] = [[]]
  for (let length = 1; length <= keyFieldsMax; length += 1) {
    combinations = combinations.flatMap((combination) =>
      candidates
        .filter(({ column }) => column > (combination.at(-1)?.column ?? -1))
        .map((next) => [...combination, next]),
    )
    for (const combination of combinations) {
      if (isEnough()) return namesOfKeys()
      if (isUnique(combination.map(({ column }) => column))) uniqueKeys.push(combination)
    }
  }
  return namesOfKeys()
}

function countsIn(key: readonly { readonly isCount: boolean }[]): number {
  return key.filter(({ isCount }) => isCount).length
}
