import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { foldText } from '../../../core/folding.ts'
import { nearestName } from '../../../core/text.ts'
import type { Pool } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import { dictionarySize, type Dictionaries } from '../indexes/dictionaries.ts'
import type { Condition } from '../../query/conditions.ts'
import { InvalidQuery } from '../../query/errors.ts'
import { formatList } from '../../query/list.ts'
import { equalValues, periodUnit, trimBlanks, type Operator } from '../../query/operators.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { foldedText } from './folding.ts'
import type { Hint, Search } from './selections.ts'

/** A field with more values gives no hints. */
const listedMax = 20_000
const hintsMax = 10
/** Comparing an operand takes milliseconds. */
const comparisonsMax = 2
/** Hints must fit into headers. */
const hintLengthMax = 60

/** Looks operands up in dictionaries and reports. */
export class ListedOperands {
  readonly #dictionaries: Dictionaries
  readonly #pool: Pool

  constructor(dictionaries: Dictionaries, pool: Pool) {
    this.#dictionaries = dictionaries
    this.#pool = pool
  }

  /** @throws InvalidQuery if a list without quotes is a single value, and not all of its items are values */
  async requireSeparateValues({ snapshot, filter, requester }: Search): Promise<void> {
    for (const { field, values, unquoted } of filter.conditions) {
      if (unquoted === undefined) continue
      const listedValues = await this.#listed({ snapshot, field, requester })
      if (listedValues === null) continue
      const isListed = lookupIn(listedValues)
      if (!isListed(unquoted) || values.every(isListed)) continue
      const [parameter, spelling] = [`${field.name}__in`, formatList([unquoted])]
      const message = `The parameter "${parameter}" has a value that contains a comma: put it in quotes, as in ${parameter}=${spelling}.`
      throw new InvalidQuery([{ parameter, message }])
    }
  }

  /**
   * Hints for operands of `=`, `__ne` and `__in` that no row has.
   * @param isEmpty true if no row matches
   */
  async hints({ snapshot, filter, requester }: Search, isEmpty: boolean): Promise<readonly Hint[]> {
    const hints: Hint[] = []
    for (const condition of filter.conditions) {
      const { field, operator, values } = condition
      // If the result has rows, each value of `=` exists. A month stands for days, which need not all exist.
      const canMissDespiteRows = (operator === 'in' || operator === 'ne') && periodUnit(field) === null
      if (!(isEmpty || canMissDespiteRows) || !hintedOperators.has(operator)) continue
      const listedValues = await this.#listed({ snapshot, field, requester })
      if (listedValues === null) continue
      const isListed = lookupIn(listedValues)
      for (const missingValue of values) {
        if (hints.length === hintsMax) return hints
        if (isListed(missingValue)) continue
        const isCompared = hints.length < comparisonsMax
        const comparison = isCompared ? await this.#nearest(listedValues, missingValue, requester) : null
        hints.push({
          condition,
          missing: missingValue,
          nearest: comparison?.nearest ?? null,
          isSameInAnyCase: comparison?.isSameInAnyCase === true,
        })
      }
    }
    return hints
  }

  async #nearest(
    listedValues: ListedValues,
    missingValue: string,
    requester: Requester,
  ): Promise<{ nearest: string; isSameInAnyCase: boolean } | null> {
    const target = trimBlanks(await foldedText(missingValue, this.#pool, requester))
    const sameIndex = listedValues.foldedValues.findIndex((text) => trimBlanks(text) === target)
    const nearestText =
      sameIndex === -1 ? nearestName(target, listedValues.foldedValues.filter(isOfLengthOf(target))) : null
    const place = nearestText === null ? sameIndex : listedValues.foldedValues.indexOf(nearestText)
    const nearest = listedValues.values[place]
    if (nearest === undefined || nearest === '' || nearest.length > hintLengthMax) return null
    return { nearest, isSameInAnyCase: sameIndex !== -1 }
  }

  async #listed({ snapshot, field, requester }: TextRequest): Promise<ListedValues | null> {
    if (!typeRow(field.type).isText) return null
    const count = dictionarySize(snapshot, field.name)
    if (count > listedMax) return null
    const dictionary = count === 0 ? null : await this.#dictionaries.values(snapshot, field, requester)
    if (dictionary?.folded != null)
      return { field, values: dictionary.values, foldedValues: dictionary.folded }
    const choices = snapshot.choices.get(field.name)
    return choices === undefined ? null : { field, values: choices, foldedValues: choices.map(foldText) }
  }
}

const hintedOperators: ReadonlySet<Operator> = new Set(['eq', 'ne', 'in'])

interface ListedValues {
  readonly field: Field
  readonly values: readonly string[]
  readonly foldedValues: readonly string[]
}

interface TextRequest extends Pick<Condition, 'field'> {
  readonly snapshot: Snapshot
  readonly requester: Requester
}

/** Leaves few texts to compare letter by letter. */
function isOfLengthOf({ length }: string): (text: string) => boolean {
  const difference = Math.max(2, Math.floor(length / 3))
  return (text) => text.length <= hintLengthMax && Math.abs(text.length - length) <= difference
}

/** Kept, since building a set takes longer than a request. */
const valueSets = new WeakMap<readonly string[], ReadonlySet<string>>()

/** Accepts any normal form of Unicode. */
function lookupIn({ field, values }: ListedValues): (value: string) => boolean {
  const valueSet = valueSets.get(values) ?? new Set(values)
  valueSets.set(values, valueSet)
  return (value) => equalValues(field, [value]).some((text) => valueSet.has(text))
}
