import { tableId, type Field } from '../../../core/catalog/catalog.ts'
import { timed } from '../../http/responder.ts'
import type { Resource } from '../../http/resource.ts'
import { unacceptableParameters } from '../../http/problems.ts'
import { chartPage, chartParameters } from '../../pages/chart/chart.ts'
import { dimensionsOf, stepOf, type Dimension } from '../../pages/chart/dimensions.ts'
import { mixedTotal } from '../../pages/chart/totals.ts'
import { textOf } from '../../pages/html.ts'
import type { Requester } from '../../table/engine/requester.ts'
import type { Group } from '../../table/selection/selections.ts'
import { unquotedIn } from '../../query/conditions.ts'
import { answerAsk } from './ask.ts'
import { named, pageAt, type PageService } from './documents.ts'
import { requesterOf } from '../find.ts'

/** The rows of an ask, drawn by one of their fields. */
export function chart(service: PageService): Resource {
  const { setting, responder, engine, pageBytesMax } = service
  const form = { without: ['format', 'page', 'page_size'], own: chartParameters } as const
  return {
    ...pageAt(service, '/dataset/:dataset/:table/chart', 'Chart'),
    countsAs: 'rows',
    respond: (request, req, res) =>
      answerAsk(service, request, res, form, async (asked) => {
        const { table, snapshot, query, own } = asked
        const { report } = snapshot
        const dimensions = dimensionsOf(table, report)
        const drawn = chosenBy(dimensions, own.get('chart_by'))
        const measures = table.fields.filter(({ name }) => table.measures.includes(name))
        const measure = chosenSum(measures, own.get('chart_sum'))
        const length = drawn?.shape === 'line' ? stepOf(drawn.field, report) : null
        const { snapshot: id } = snapshot.manifest
        const key = [
          tableId(table),
          id,
          [...query.parameters],
          unquotedIn(query),
          drawn?.field.name,
          measure?.name,
        ]
        const groupsFor = async (requester: Requester): Promise<readonly Group[]> =>
          drawn === null || (measure !== null && mixedTotal(asked, drawn.field) !== null)
            ? []
            : engine.selections.groups(snapshot, query, { by: drawn.field, length, measure }, requester)
        await responder.send(req, res, {
          ...named(service, ['chart', ...key]),
          body: async (signal) => {
            const requester = requesterOf(request, signal, pageBytesMax)
            const groups = await groupsFor(requester)
            const view = { ...asked, dimensions, drawn, measure, length, groups }
            return timed(() => textOf(chartPage(setting, view)))
          },
        })
      }),
  }
}

function chosenBy(dimensions: readonly Dimension[], name: string | undefined): Dimension | null {
  if (name === undefined) return dimensions[0] ?? null
  const names = dimensions.map(({ field }) => field.name)
  const found = dimensions.find(({ field }) => field.name === name)
  if (found === undefined) throw notOneOf('chart_by', names)
  return found
}

/** Null where rows are counted, as they are where nothing is asked for: that is never wrong. */
function chosenSum(measures: readonly Field[], name: string | undefined): Field | null {
  if (name === undefined || name === 'rows') return null
  const found = measures.find((field) => field.name === name)
  if (found === undefined) throw notOneOf('chart_sum', ['rows', ...measures.map((field) => field.name)])
  return found
}

function notOneOf(parameter: string, names: readonly string[]): Error {
  const message = `The parameter "${parameter}" must be one of: ${names.join(', ')}.`
  return unacceptableParameters([{ parameter, message }])
}
