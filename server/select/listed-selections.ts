import { typeRow } from '../../core/catalog/field-types.ts'
import { nearestName } from '../../core/nearest.ts'
import type { Pool } from '../engine/pool.ts'
import type { Requester } from '../engine/requester.ts'
import { valuesOf, type Dictionaries, type Dictionary } from '../indexes/dictionaries.ts'
import type { KeptStats } from '../kept.ts'
import type { Condition } from '../query/conditions.ts'
import { InvalidQuery } from '../query/errors.ts'
import { formatList } from '../query/list.ts'
import type { RowFilter } from '../query/query.ts'
import { equalValues, trimBlanks } from '../query/values.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { foldedText } from './folding.ts'
import type { Grouping, Hint, KeptSelections, Selection, Selections } from './selections.ts'

/** Values of a field that are compared one by one; a field with more of them gives no hints. */
const listedMax = 20_000
const hintsMax = 2
/** Longer texts are not suggested, since hints are headers. */
const hintLengthMax = 60

/**
 * Looks up the texts of a query among the values of their fields, where a dictionary lists these: an empty answer gets the
 * nearest values, and a list of which only the whole text is a value is refused.
 */
export class ListedSelections implements KeptSelections {
  readonly #others: KeptSelections
  readonly #dictionaries: Dictionaries
  readonly #pool: Pool

  /** @param pool folds texts */
  constructor(others: KeptSelections, dictionaries: Dictionaries, pool: Pool) {
    this.#others = others
    this.#dictionaries = dictionaries
    this.#pool = pool
  }

  get stats(): KeptStats {
    return this.#others.stats
  }

  async find(snapshot: Snapshot, filter: RowFilter, requester: Requester): Promise<Selection> {
    await this.#requireSeparateValues(snapshot, filter, requester)
    const selection = await this.#others.find(snapshot, filter, requester)
    if (selection.count > 0) return selection
    return { ...selection, hints: await this.#hints(snapshot, filter, requester) }
  }

  async groups(
    snapshot: Snapshot,
    filter: RowFilter,
    grouping: Grouping,
    requester: Requester,
  ): ReturnType<Selections['groups']> {
    await this.#requireSeparateValues(snapshot, filter, requester)
    return this.#others.groups(snapshot, filter, grouping, requester)
  }

  /** @throws InvalidQuery for a list without quotes that is one value, and not all of whose items are values */
  async #requireSeparateValues(
    snapshot: Snapshot,
    { conditions }: RowFilter,
    requester: Requester,
  ): Promise<void> {
    for (const { field, values, unquoted } of conditions) {
      if (unquoted === undefined) continue
      const dictionary = await this.#listed({ snapshot, field, requester })
      if (dictionary === null) continue
      const isListed = lookupIn(dictionary)
      if (!isListed(unquoted) || values.every(isListed)) continue
      const [parameter, spelling] = [`${field.name}__in`, formatList([unquoted])]
      const message = `The parameter "${parameter}" has a value that holds a comma, which stands in quotes: ${parameter}=${spelling}.`
      throw new InvalidQuery([{ parameter, message }])
    }
  }

  async #hints(
    snapshot: Snapshot,
    { conditions }: RowFilter,
    requester: Requester,
  ): Promise<readonly Hint[]> {
    const hints: Hint[] = []
    for (const condition of conditions) {
      if (hints.length === hintsMax) break
      const hint = await this.#hint(snapshot, condition, requester)
      if (hint !== null) hints.push(hint)
    }
    return hints
  }

  async #hint(
    snapshot: Snapshot,
    { field, operator, values }: Condition,
    requester: Requester,
  ): Promise<Hint | null> {
    if (operator !== 'eq' && operator !== 'in') return null
    const dictionary = await this.#listed({ snapshot, field, requester })
    if (dictionary?.folded == null) return null
    const isListed = lookupIn(dictionary)
    const missing = values.find((value) => !isListed(value))
    if (missing === undefined) return null
    const wanted = trimBlanks(await foldedText(missing, this.#pool, requester))
    const same = dictionary.folded.findIndex((text) => trimBlanks(text) === wanted)
    const near = same === -1 ? nearestName(wanted, dictionary.folded) : null
    const place = near === null ? same : dictionary.folded.indexOf(near)
    const nearest = dictionary.values[place]
    if (nearest === undefined || nearest === '' || nearest.length > hintLengthMax) return null
    return { field, missing, nearest, isSameInAnyCase: same !== -1 }
  }

  /** The values of a field of texts; null where they are too many, or have no dictionary. */
  async #listed({ snapshot, field, requester }: Asked): Promise<Dictionary | null> {
    const count = valuesOf(snapshot, field.name)
    if (!typeRow(field.type).isText || count === 0 || count > listedMax) return null
    return this.#dictionaries.values(snapshot, field, requester)
  }
}

interface Asked extends Pick<Condition, 'field'> {
  readonly snapshot: Snapshot
  readonly requester: Requester
}

/** Returns a test of whether a dictionary has a value, in any normal form of Unicode. */
function lookupIn({ field, values }: Dictionary): (value: string) => boolean {
  const listed = new Set(values)
  return (value) => equalValues(field, [value]).some((one) => listed.has(one))
}
