import type { Field } from '../../../core/catalog/catalog.ts'
import { orderTerm } from '../../../core/sql.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

/** The field that leads the order in which the rows of a snapshot lie; null where none does. */
export function leadingField({ table, manifest }: Snapshot): Field | null {
  const [term] = manifest.order
  const leads = ({ name }: Field): boolean =>
    (['asc', 'desc'] as const).some((direction) => orderTerm({ field: name, direction }) === term)
  return table.fields.find(leads) ?? null
}
