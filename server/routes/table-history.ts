import { tableId, type Family, type Table } from '../../core/catalog/catalog.ts'
import { changeColumns } from '../../core/warehouse/changes.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { cellsFormat } from '../formats/cells.ts'
import { exactJson, exactValue } from './exact-json.ts'
import { unacceptableParameters } from '../http/problems.ts'
import type { Resource } from '../http/resource.ts'
import { contentName } from '../http/responder.ts'
import { jsonOffer, negotiate } from '../http/negotiation.ts'
import { jsonType } from '../http/send.ts'
import { parameterFor } from '../query/conditions.ts'
import { readValue } from '../query/operators.ts'
import { parseQuery } from '../query/parameters.ts'
import { isParameterName, parseRowQuery } from '../query/query.ts'
import { changesOf } from '../snapshots/changes.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import type { Requester } from '../table/engine/requester.ts'
import { pageBody, pageOf, type RowEngine } from '../table/representations/page.ts'
import { findDataset, findTable, notPublished, requesterOf, unavailableNow } from './find.ts'
import { problemOf } from './problem-of.ts'
import type { Runtime } from './runtime.ts'

type Row = Readonly<Record<string, unknown>>

/** A row by its key, over the kept snapshots; an extension of the spec. */
export function tableHistory(_family: Family, service: Runtime): Resource {
  const { catalog, snapshots, engine, freshness, pageBytesMax } = service
  return {
    path: '/dataset/:dataset/:table/history',
    name: 'Row History',
    description: `When a row was first seen, and each change of it. ${catalog.notice}`,
    offers: [jsonOffer],
    countsAs: 'rows',
    find: async (request) => {
      const table = findTable(findDataset(catalog, request.params), request.params)
      const conditions = keyConditions(table, request.target, (format) =>
        negotiate(request.headers, format, [jsonOffer]),
      )
      const current = snapshots.current(table)
      if (current === null) throw notPublished(table, snapshots.fault(table))
      const idsNewestFirst = [current.manifest, ...(await snapshots.earlier(table))].map(
        ({ snapshot }) => snapshot,
      )
      return {
        name: contentName(
          JSON.stringify(['history', 1, tableId(table), idsNewestFirst, conditions.toString()]),
        ),
        cacheControl: freshness.changing,
        mediaType: jsonType,
        headers: { 'Acervo-Snapshot': current.manifest.snapshot },
        isAtHand: false,
        body: async (signal) => {
          const requester = requesterOf(request, signal, pageBytesMax)
          const readRows = async (snapshot: Snapshot): Promise<readonly Row[]> =>
            rowsOf(snapshot, conditions, engine, requester).catch((error: unknown) => {
              throw problemOf(error)
            })
          const states: State[] = []
          for (const id of idsNewestFirst) {
            const state = await snapshots.use(table, id, async (snapshot): Promise<State | null> => {
              if (snapshot === null) return null
              const changes = changesOf(snapshot, null)
              const isByKey = JSON.stringify(changes?.changes.key) === JSON.stringify(table.key)
              return {
                manifest: snapshot.manifest,
                rows: changes !== null && isByKey ? await readRows(changes) : null,
              }
            })
            if (state === null) {
              if (snapshots.isKept(table, id) && !snapshots.hasOtherFields(table, id))
                throw unavailableNow(table)
              break
            }
            states.push(state)
            // The row's earlier history is unknown.
            if (state.rows === null) break
          }
          const [row = null] = await readRows(current)
          return { pieces: [exactJson(historyOf(table, conditions, row, states))] }
        },
      }
    },
  }
}

interface State {
  readonly manifest: Manifest
  /** Null if this snapshot was not compared with its predecessor by the key. */
  readonly rows: readonly Row[] | null
}

/**
 * Conditions on the key of a row.
 * @throws Problem invalid-parameter for a missing or invalid value
 */
function keyConditions(
  { key, fields }: Table,
  target: string,
  negotiateFormat: (format?: string) => void,
): URLSearchParams {
  if (key === null)
    throw unacceptableParameters([
      {
        parameter: 'key',
        message: 'The table has no key, so no row has a history: its catalog must declare `key`.',
      },
    ])
  const parameters = parseQuery(target, [...key, 'format'])
  negotiateFormat(parameters.get('format'))
  const conditions = new URLSearchParams()
  const errors = key.flatMap((name) => {
    const field = fields.find((item) => item.name === name)
    const text = parameters.get(name)
    // An empty text is written as "".
    const value =
      field === undefined || text === undefined ? null : readValue(field, text === '""' ? '' : text)
    if (field !== undefined && value !== null) {
      conditions.set(...parameterFor({ field, operator: 'eq', values: [value] }, isParameterName))
      return []
    }
    const message =
      text === undefined
        ? `The parameter "${name}" is missing: a row is identified by ${key.join(', ')}.`
        : `The parameter "${name}" is not a value of its field.`
    return [{ parameter: name, message }]
  })
  if (errors.length > 0) throw unacceptableParameters(errors)
  return conditions
}

/**
 * Reads the rows that satisfy conditions like the data endpoint, and parses their cells into exact values.
 */
async function rowsOf(
  { table, ...snapshot }: Snapshot,
  conditions: URLSearchParams,
  engine: RowEngine,
  requester: Requester,
): Promise<readonly Row[]> {
  // The key finds rows even if the catalog does not let clients filter by it.
  const filterable = { ...snapshot, table: { ...table, filters: table.fields.map(({ name }) => name) } }
  const query = parseRowQuery(filterable.table, `?${conditions.toString()}`)
  const noLinks = { to: () => '', alternates: () => [], downloadUrl: '' }
  const { pieces } = await pageBody(pageOf(filterable, query, cellsFormat, noLinks), engine, requester)
  const text = Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString()
  return (JSON.parse(text) as (string | null)[][]).map((cells) =>
    Object.fromEntries(
      query.fields.map((field, index): [name: string, value: unknown] => {
        const cell = cells[index] ?? null
        return [field.name, cell === null ? null : exactValue(field, cell)]
      }),
    ),
  )
}

function appearanceOf({ snapshot, import_date: date }: Manifest): Row {
  return { snapshot, import_date: date }
}

/**
 * Describes a row's life in the kept snapshots, from the changes that its key finds.
 * @param states newest first
 */
function historyOf(
  table: Table,
  conditions: URLSearchParams,
  row: Row | null,
  states: readonly State[],
): unknown {
  const events = states.flatMap(({ manifest, rows }) =>
    (rows ?? []).map((change) => ({ manifest, change, ...eventOf(manifest, change) })),
  )
  const [latestEvent, firstEvent] = [events[0], events.at(-1)]
  const oldest = states.at(-1)?.manifest
  const isFirstAdded = firstEvent?.kind === 'added'
  const hasExisted = row !== null || latestEvent !== undefined
  // A row without changes has been there since the oldest snapshot, or never.
  const firstSeen = isFirstAdded ? firstEvent.manifest : hasExisted ? oldest : undefined
  const isRemoved = row === null && latestEvent?.kind === 'removed'
  const removalIndex = states.findIndex(({ manifest }) => manifest === latestEvent?.manifest)
  const beforeRemoval = states[removalIndex + 1]?.manifest
  const newestWithRow = row === null ? undefined : states[0]?.manifest
  const lastSeen = isRemoved ? beforeRemoval : newestWithRow
  return {
    key: Object.fromEntries(
      (table.key ?? []).map((name) => [name, (row ?? latestEvent?.change)?.[name] ?? conditions.get(name)]),
    ),
    row,
    first_seen: firstSeen === undefined ? null : appearanceOf(firstSeen),
    // Otherwise, the row may be older than the kept snapshots.
    is_first_known: isFirstAdded || oldest?.previous === null,
    last_seen: lastSeen === undefined ? null : appearanceOf(lastSeen),
    changes: events.map(({ manifest, kind, fields }) => ({
      ...(appearanceOf(manifest) as object),
      change: kind,
      fields,
    })),
  }
}

function eventOf({ changes: [changes] = [] }: Manifest, change: Row): { kind: string; fields: unknown[] } {
  const names = changes?.fields ?? []
  const columns = changeColumns(names)
  const changedNames = (change[columns.changedColumn] ?? []) as string[]
  return {
    kind: String(change[columns.kindColumn]),
    fields: changedNames.map((field) => ({
      field,
      from: change[columns.old(field)] ?? null,
      to: change[field] ?? null,
    })),
  }
}
