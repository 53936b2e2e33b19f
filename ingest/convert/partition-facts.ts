import { typeRow } from '../../core/catalog/field-types.ts'
import type { Manifest, Partition, ValueFacts } from '../../core/warehouse/manifest.ts'
import { sortedSql, type Work } from './convert.ts'
import type { CodedField } from './dictionary.ts'
import { factsIn, type FactsColumn, type Range } from './facts.ts'

/** What is known of the values of the snapshot before, from which some rows are taken over. */
export interface ProfileBefore {
  /** Fields whose values are counted already. */
  readonly counted: readonly CodedField[]
  /** The rows that are not taken over. */
  readonly read: Work
  /** Of the partitions that are taken over. */
  readonly kept: readonly Partition[]
  /** Of all there were. */
  readonly all: readonly Partition[]
  /** Absolute paths of parts that are not taken over. */
  readonly gone: readonly string[]
  readonly frequent: Manifest['frequent']
  readonly profiles: readonly { readonly name: string; readonly histogram?: readonly Range[] | undefined }[]
}

/** Of each field, in each partition: by its value, then by name. */
export type PartitionFacts = ReadonlyMap<string | null, ReadonlyMap<string, ValueFacts>>

/** Ends that are longer are not kept. */
const endMax = 200

/**
 * What the next ingest is to know of each partition: of the fields that are not counted, whose ends are short.
 *
 * @param told in this ingest
 */
export async function factsToKeep(
  work: Work,
  told: PartitionFacts,
  counted: ReadonlySet<string>,
): Promise<PartitionFacts> {
  const others = work.fields.flatMap(({ field }, index): FactsColumn[] =>
    counted.has(field.name) ? [] : [{ field, column: `f${index}`, weight: null }],
  )
  // Such as of one that had few values before, and has many now.
  const isTold = ({ field }: FactsColumn): boolean =>
    told.size > 0 && [...told.values()].every((own) => own.has(field.name))
  const untold = others.filter((column) => !isTold(column))
  const more =
    untold.length === 0
      ? new Map<string | null, ValueFacts[]>()
      : await factsIn(work.db, sortedSql(work), untold, partitionSql(work))
  const kept = new Map<string | null, Map<string, ValueFacts>>()
  for (const value of new Set([...told.keys(), ...more.keys()])) {
    const found = others.flatMap((column): [string, ValueFacts][] => {
      const { name } = column.field
      const one = more.get(value)?.[untold.indexOf(column)] ?? told.get(value)?.get(name)
      return one !== undefined && areShort(one) ? [[name, one]] : []
    })
    kept.set(value, new Map(found))
  }
  return kept
}

const areShort = ({ min, max }: ValueFacts): boolean =>
  (min ?? '').length <= endMax && (max ?? '').length <= endMax

/** SQL: the partition of a row; null where the table has none. */
export function partitionSql({ table, fields }: Work): string | null {
  const index = fields.findIndex(({ field }) => field.name === table.partition)
  const field = fields[index]?.field
  return field === undefined ? null : typeRow(field.type).rendered(`f${index}`)
}
