import { type Field, type OrderKey, type Table } from '../../core/catalog/catalog.ts'
import { didYouMean, shorten } from '../../core/text.ts'
import { isSnapshotId, type SnapshotId } from '../../core/warehouse/layout.ts'
import { Invalid, InvalidQuery, MalformedQuery, type ParameterError } from './errors.ts'
import { formatList, parseList } from './list.ts'

/** Parameters that are not conditions: parsers, and functions that write them. */

/** Default of Brasil.IO; sizes beyond the maximum are refused instead of silently changed. */
export const pageSizeDefault = 1000
export const pageSizeMax = 10_000

export function parsePageSize(text: string): number | Invalid {
  const size = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= pageSizeMax) return size
  return new Invalid(`The parameter "page_size" must be a whole number from 1 to ${pageSizeMax}.`)
}

export function parseSnapshot(text: string, parameter = 'snapshot'): SnapshotId | 'current' | Invalid {
  if (text === 'current' || isSnapshotId(text)) return text
  return new Invalid(
    `The parameter "${parameter}" must be "current" or the id of a snapshot, as in Acervo-Snapshot.`,
  )
}

export function parseOrdering(table: Table, parameter: string, text: string): OrderKey[] | Invalid {
  return readOrderKeys(parameter, text, (name) => fieldFault(table, parameter, name))
}

/** @param fault returns why a name cannot be ordered by; null if it can */
export function readOrderKeys(
  parameter: string,
  text: string,
  fault: (name: string) => Invalid | null,
): OrderKey[] | Invalid {
  const keys: OrderKey[] = []
  const terms = parseList(text)
  if (terms === null) return notAList(parameter)
  for (const term of terms) {
    const isDescending = term.trimStart().startsWith('-')
    const field = term
      .trim()
      .slice(isDescending ? 1 : 0)
      .trim()
    const fieldProblem = fault(field)
    if (fieldProblem !== null) return fieldProblem
    if (keys.some((key) => key.field === field)) {
      return new Invalid(`The parameter "${parameter}" names the field "${field}" twice.`)
    }
    keys.push({ field, direction: isDescending ? 'desc' : 'asc' })
  }
  return keys
}

export function parseFields(table: Table, text: string): Field[] | Invalid {
  const names = parseList(text)
  if (names === null) return notAList('fields')
  for (const name of names) {
    const fault = fieldFault(table, 'fields', name)
    if (fault !== null) return fault
  }
  return [...new Set(names)].flatMap((name) => table.fields.find((field) => field.name === name) ?? [])
}

function notAList(parameter: string): Invalid {
  return new Invalid(`The parameter "${parameter}" must be names separated by commas.`)
}

function fieldFault(table: Table, parameter: string, name: string): Invalid | null {
  const names = table.fields.map((field) => field.name)
  if (names.includes(name)) return null
  const hint = didYouMean(name, names)
  return new Invalid(
    `The parameter "${parameter}" names "${shorten(name)}", which is not a field${hint}; fields: ${names.join(', ')}.`,
    'unknown-name',
  )
}

export function areDefaultColumns(table: Table, columns: readonly Field[]): boolean {
  return (
    columns.length === table.fields.length && columns.every((field, place) => field === table.fields[place])
  )
}

/** Inverse of `parseOrdering`. */
export function formatOrdering(keys: readonly OrderKey[]): string {
  return formatList(keys.map(orderText))
}

/** Inverse of `parseFields`. */
export function formatFields(fields: readonly Field[]): string {
  return formatList(fields.map(({ name }) => name))
}

function orderText({ field, direction }: OrderKey): string {
  return direction === 'desc' ? `-${field}` : field
}

/** Decoded, without the empty values of web forms. */
export type QueryParameters = ReadonlyMap<string, string>

/**
 * Reads known parameters, without empty ones.
 * @param target path and query as received
 * @throws MalformedQuery, or InvalidQuery naming each unknown or repeated parameter
 */
export function parseQuery(target: string, knownNames: readonly string[]): QueryParameters {
  const query = new Map<string, string>()
  const errors: ParameterError[] = []
  for (const [name, value] of parametersOf(target)) {
    if (value === '' && knownNames.includes(name)) continue
    if (!knownNames.includes(name))
      errors.push({
        parameter: name,
        message: unknownParameter(name, knownNames),
        reason: 'unknown-parameter',
      })
    else if (query.has(name)) errors.push({ parameter: name, message: repeatedParameter(name) })
    query.set(name, value)
  }
  if (errors.length > 0) throw new InvalidQuery(errors)
  return query
}

export function parametersOf(target: string): [name: string, value: string][] {
  const start = target.indexOf('?')
  const pairs = start === -1 ? [] : target.slice(start + 1).split('&')
  return pairs.filter((pair) => pair !== '').map(splitPair)
}

export function repeatedParameter(name: string): string {
  return `The parameter "${name}" appears twice.`
}

function splitPair(pair: string): [string, string] {
  const equals = pair.indexOf('=')
  const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
  return [decoded(name), decoded(value)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (cause) {
    throw new MalformedQuery(cause)
  }
}

function unknownParameter(name: string, knownNames: readonly string[]): string {
  return `There is no parameter "${shorten(name)}" here${didYouMean(name, knownNames)}; known: ${knownNames.join(', ')}.`
}
