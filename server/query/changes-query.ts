import type { Table } from '../../core/catalog/catalog.ts'
import { didYouMean, shorten } from '../../core/text.ts'
import { changeColumns, changeKinds } from '../../core/warehouse/changes.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { Invalid, InvalidQuery, type ParameterError } from './errors.ts'
import { parametersOf, parseSnapshot, repeatedParameter, type QueryParameters } from './parameters.ts'
import { parseRowQuery, type ParameterName, type RowQuery } from './query.ts'

/** Parameters besides those of the rows. */
export const changesParameterRows = {
  since: 'id of the earlier snapshot; default is the one before the later snapshot',
  to: '`current`, or the id of the later snapshot; default is the current one',
} as const

/** Two snapshots, and the rest of the query. */
export interface ChangesTarget {
  /** Null for the snapshot before the later one. */
  readonly since: SnapshotId | null
  /** Null for the current one. */
  readonly to: SnapshotId | null
  readonly target: string
}

const parameterOfName = { since: 'since', from: 'since', to: 'to' } as const
export const changesParameterNames = Object.keys(parameterOfName)

/** Separates the two snapshots to compare from the rest of the target, which selects rows. */
export function parseChangesTarget(target: string): ChangesTarget {
  const errors: ParameterError[] = []
  const ids = new Map<string, SnapshotId | null>()
  const otherParameters: [string, string][] = []
  for (const [name, text] of parametersOf(target)) {
    const parameter = Object.hasOwn(parameterOfName, name)
      ? parameterOfName[name as keyof typeof parameterOfName]
      : null
    if (parameter === null) otherParameters.push([name, text])
    else if (ids.has(parameter)) errors.push({ parameter: name, message: repeatedParameter(name) })
    else {
      const id = parseSnapshot(text, name)
      if (id instanceof Invalid) errors.push({ parameter: name, message: id.message })
      else if (id === 'current' && parameter === 'since')
        errors.push({
          parameter: name,
          message: `The parameter "${name}" must be the id of an earlier snapshot.`,
        })
      else ids.set(parameter, id === 'current' ? null : id)
    }
  }
  if (errors.length > 0) throw new InvalidQuery(errors)
  const [path = ''] = target.split('?', 1)
  return {
    since: ids.get('since') ?? null,
    to: ids.get('to') ?? null,
    target:
      otherParameters.length === 0 ? path : `${path}?${new URLSearchParams(otherParameters).toString()}`,
  }
}

/**
 * Conditions on fields called like a parameter get their operator, such as `to__eq`, so that an address can have
 * the parameter too.
 */
export function withoutReservedNames(
  parameters: QueryParameters,
  reserved: readonly string[],
): QueryParameters {
  return new Map(
    [...parameters].map(([name, text]) => [reserved.includes(name) ? `${name}__eq` : name, text]),
  )
}

/** @throws InvalidQuery also for an unknown kind of change, or a changed field that was not compared */
export function parseChangedRows(
  {
    table,
    changes: { fields },
  }: { readonly table: Table; readonly changes: { readonly fields: readonly string[] } },
  target: string,
  excludedNames: readonly ParameterName[],
  pageSize?: number,
): RowQuery {
  const query = parseRowQuery(table, target, excludedNames, pageSize)
  const { kindColumn, changedColumn } = changeColumns(fields)
  const choicesByName = new Map<string, readonly string[]>([
    [kindColumn, changeKinds],
    [changedColumn, fields],
  ])
  const errors = query.conditions.flatMap(({ field: { name }, operator, values }) => {
    const choices = choicesByName.get(name) ?? []
    const comparesChoices = name === kindColumn ? ['eq', 'ne', 'in'].includes(operator) : operator === 'has'
    const unknown =
      comparesChoices && choices.length > 0 ? values.find((value) => !choices.includes(value)) : undefined
    if (unknown === undefined) return []
    const parameter = operator === 'eq' ? name : `${name}__${operator}`
    const hint = didYouMean(unknown, choices)
    return [
      {
        parameter,
        message: `The parameter "${parameter}" has no value "${shorten(unknown)}"${hint}; its values: ${choices.join(', ')}.`,
      },
    ]
  })
  if (errors.length > 0) throw new InvalidQuery(errors)
  return query
}
