import { tableId, type Field } from '../../../core/catalog/catalog.ts'
import type { Resource } from '../../http/resource.ts'
import { unacceptableParameters } from '../../http/problems.ts'
import { chartPage, chartParameters } from '../../pages/chart/chart.ts'
import { dimensionsOf, stepOf, type Dimension } from '../../pages/chart/dimensions.ts'
import { textOf } from '../../pages/html.ts'
import { parseRowQuery } from '../../query/query.ts'
import { parametersOf } from '../../query/string.ts'
import { findDataset, findTable, notPublished } from '../find.ts'
import { problemOf } from '../problem-of.ts'
import { named, pageAt, type PageService } from './documents.ts'
import { leadToTidy } from './tidy.ts'

/** The rows of an ask, drawn by one of their fields. */
export function chart(service: PageService): Resource {
  const { catalog, snapshots, setting, responder, engine, pageBytesMax, files } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/chart', 'Chart'),
    respond: async ({ params, target, client }, req, res) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      if (leadToTidy(target, res)) return
      const [own, rest] = split(target)
      const query = parseRowQuery(table, rest, ['format', 'page', 'page_size'])
      const pinned = query.snapshot === 'current' ? null : query.snapshot
      await snapshots.use(table, pinned, async (snapshot) => {
        if (snapshot === null) throw notPublished(table, snapshots.fault(table))
        const { report } = snapshot
        const dimensions = dimensionsOf(table, report)
        const drawn = chosenBy(dimensions, own.get('chart_by'))
        const measure = chosenSum(
          table.fields.filter(({ name }) => table.measures.includes(name)),
          own.get('chart_sum'),
        )
        const length = drawn?.shape === 'line' ? stepOf(drawn.field, report) : null
        const key = [
          tableId(table),
          snapshot.manifest.snapshot,
          [...query.parameters],
          drawn?.field.name,
          measure?.name,
        ]
        await responder.send(req, res, {
          ...named(service, ['chart', ...key]),
          lastModified: snapshot.lastModified,
          body: async (signal) => {
            const requester = { client, pageBytesMax, signal }
            const groups =
              drawn === null
                ? []
                : await engine.selections
                    .groups(snapshot, query, { by: drawn.field, length, measure }, requester)
                    .catch((error: unknown) => {
                      throw problemOf(error, files.download(table))
                    })
            const view = { dataset, table, snapshot, query, dimensions, drawn, measure, length, groups }
            return { pieces: [textOf(chartPage(setting, view))] }
          },
        })
      })
    },
  }
}

type Own = Map<string, string>

function isOwn([name]: [name: string, value: string]): boolean {
  return chartParameters.some((one) => one === name)
}

/** Our own parameters, and the address without them. */
function split(target: string): [own: Own, rest: string] {
  const pairs = parametersOf(target)
  const rest = new URLSearchParams(pairs.filter((pair) => !isOwn(pair)))
  return [new Map(pairs.filter(isOwn)), `?${rest.toString()}`]
}

function chosenBy(dimensions: readonly Dimension[], name: string | undefined): Dimension | null {
  if (name === undefined) return dimensions[0] ?? null
  const names = dimensions.map(({ field }) => field.name)
  const found = dimensions.find(({ field }) => field.name === name)
  if (found === undefined) throw notOneOf('chart_by', names)
  return found
}

/** The first measure where none is asked for; null where rows are counted. */
function chosenSum(measures: readonly Field[], name: string | undefined): Field | null {
  if (name === undefined) return measures[0] ?? null
  if (name === 'rows') return null
  const found = measures.find((field) => field.name === name)
  if (found === undefined) throw notOneOf('chart_sum', ['rows', ...measures.map((field) => field.name)])
  return found
}

function notOneOf(parameter: string, names: readonly string[]): Error {
  const message = `The parameter "${parameter}" must be one of: ${names.join(', ')}.`
  return unacceptableParameters([{ parameter, message }])
}
