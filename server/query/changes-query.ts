import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { Invalid, InvalidQuery, type ParameterError } from './errors.ts'
import { parametersOf, parseSnapshot, repeatedParameter, type QueryParameters } from './parameters.ts'

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
