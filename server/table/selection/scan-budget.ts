import { TooCostly } from '../engine/errors.ts'
import type { Requester } from '../engine/requester.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Field } from '../../../core/catalog/catalog.ts'
import { orderTerm } from '../../../core/sql.ts'

/**
 * Charges a scan before values are read.
 * @throws TooCostly above `valuesMax`, and the errors of `pay`
 */
export async function checkScanBudget(
  values: number,
  valuesMax: number,
  snapshot: Snapshot,
  requester: Requester,
): Promise<void> {
  if (values <= valuesMax) return requester.pay({ values })
  const [million, maxMillion] = [values, valuesMax].map((number) =>
    Math.ceil(number / 1e6).toLocaleString('en'),
  )
  const leadField = leadingField(snapshot)
  const advice =
    leadField === null
      ? 'request less'
      : `add a condition on "${leadField.name}", the first field in the order of the table`
  throw new TooCostly(
    `The query would read about ${million ?? ''} million values, and may read ${maxMillion ?? ''} million: ${advice}.`,
  )
}

function leadingField({ table, manifest }: Snapshot): Field | null {
  const [term] = manifest.order
  const isLeading = ({ name }: Field): boolean =>
    (['asc', 'desc'] as const).some((direction) => orderTerm({ field: name, direction }) === term)
  return table.fields.find(isLeading) ?? null
}
