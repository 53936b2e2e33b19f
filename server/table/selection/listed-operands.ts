import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { foldText } from '../../../core/folding.ts'
import { nearestName } from '../../../core/text.ts'
import type { Pool } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import { distinctValues, type Dictionaries } from '../indexes/dictionaries.ts'
import type { Condition } from '../../query/conditions.ts'
import { InvalidQuery } from '../../query/errors.ts'
import { formatList } from '../../query/list.ts'
import { equalValues, periodUnit, trimBlanks, type Operator } from '../../query/operators.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { foldedText } from './folding.ts'
import type { Hint, Search } from './selections.ts'

/** Maximum number of values of a field that are compared one by one; a field with more gives no hints. */
const listedMax = 20_000
const hintsMax = 10
/** Maximum number of operands that are compared with all values, which takes milliseconds each. */
const comparisonsMax = 2
/** Longer texts are not suggested, since hints are headers. */
const hintLengthMax = 60

/**
 * Looks up the texts of a query among the values of their fields, as far as a dictionary or report has them.
 */
export class ListedOperands {
  readonly #dictionaries: Dictionaries
  readonly #pool: Pool

  /** @param pool folds texts */
  constructor(dictionaries: Dictionaries, pool: Pool) {
    this.#dictionaries = dictionaries
    this.#pool = pool
  }

  /** @throws InvalidQuery if a list without quotes is a single value, and not all of its items are values */
  async requireSeparateValues({ snapshot, filter, requester }: Search): Promise<void> {
    for (const { field, values, unquoted } of filter.conditions) {
      if (unquoted === undefined) continue
      const listed = await this.#listed({ snapshot, field, requester })
      if (listed === null) continue
      const isListed = lookupIn(listed)
      if (!isListed(unquoted) || values.every(isListed)) continue
      const [parameter, spelling] = [`${field.name}__in`, formatList([unquoted])]
      const message = `The parameter "${parameter}" has a value that contains a comma: put it in quotes, as in ${parameter}=${spelling}.`
      throw new InvalidQuery([{ parameter, message }])
    }
  }

  /**
   * Returns hints for operands of `=`, `__ne` and `__in` that are no values.
   * @param isEmpty true if no row matches
   */
  async hints({ snapshot, filter, requester }: Search, isEmpty: boolean): Promise<readonly Hint[]> {
    const hints: Hint[] = []
    for (const condition of filter.conditions) {
      const { field, operator, values } = condition
      // A row of the result has the value of each `=`. A month stands for days that need not all exist.
      const canMiss = operator === 'in' || operator === 'ne' ? periodUnit(field) === null || isEmpty : isEmpty
      if (!canMiss || !hintedOperators.has(operator)) continue
      const listed = await this.#listed({ snapshot, field, requester })
      if (listed === null) continue
      const isListed = lookupIn(listed)
      for (const missing of values) {
        if (hints.length === hintsMax) return hints
        if (isListed(missing)) continue
        const isCompared = hints.length < comparisonsMax
        const nearest = isCompared ? await this.#nearest(listed, missing, requester) : null
        hints.push({
          condition,
          missing,
          nearest: nearest?.nearest ?? null,
          isSameInAnyCase: nearest?.isSameInAnyCase === true,
        })
      }
    }
    return hints
  }

  /** Returns the listed value that is nearest to a text; null if none is near, or it is too long. */
  async #nearest(
    listed: ListedValues,
    missing: string,
    requester: Requester,
  ): Promise<{ nearest: string; isSameInAnyCase: boolean } | null> {
    const target = trimBlanks(await foldedText(missing, this.#pool, requester))
    const sameIndex = listed.folded.findIndex((text) => trimBlanks(text) === target)
    const nearestText =
      sameIndex === -1 ? nearestName(target, listed.folded.filter(isOfLengthOf(target))) : null
    const place = nearestText === null ? sameIndex : listed.folded.indexOf(nearestText)
    const nearest = listed.values[place]
    if (nearest === undefined || nearest === '' || nearest.length > hintLengthMax) return null
    return { nearest, isSameInAnyCase: sameIndex !== -1 }
  }

  /** Returns the values of a text field; null if they are unknown or too many. */
  async #listed({ snapshot, field, requester }: TextRequest): Promise<ListedValues | null> {
    if (!typeRow(field.type).isText) return null
    const count = distinctValues(snapshot, field.name)
    if (count > listedMax) return null
    const dictionary = count === 0 ? null : await this.#dictionaries.values(snapshot, field, requester)
    if (dictionary?.folded != null) return { field, values: dictionary.values, folded: dictionary.folded }
    const choices = snapshot.choices.get(field.name)
    return choices === undefined ? null : { field, values: choices, folded: choices.map(foldText) }
  }
}

const hintedOperators: ReadonlySet<Operator> = new Set(['eq', 'ne', 'in'])

interface ListedValues {
  readonly field: Field
  readonly values: readonly string[]
  /** Values folded in case and accents. */
  readonly folded: readonly string[]
}

interface TextRequest extends Pick<Condition, 'field'> {
  readonly snapshot: Snapshot
  readonly requester: Requester
}

/** Returns a test for texts of about the same length, so that few are compared letter by letter. */
function isOfLengthOf({ length }: string): (text: string) => boolean {
  const difference = Math.max(2, Math.floor(length / 3))
  return (text) => text.length <= hintLengthMax && Math.abs(text.length - length) <= difference
}

/** Sets of the values of cached dictionaries: building one for each request would take longer than the request. */
const valueSets = new WeakMap<readonly string[], ReadonlySet<string>>()

/** Returns a test of whether a value is listed, in any normal form of Unicode. */
function lookupIn({ field, values }: ListedValues): (value: string) => boolean {
  const listed = valueSets.get(values) ?? new Set(values)
  valueSets.set(values, listed)
  return (value) => equalValues(field, [value]).some((text) => listed.has(text))
}
