import { describeFilter } from '../documents/words/filter-text.ts'
import { titleOf } from '../documents/words/titles.ts'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { fileAddresses } from '../http/addresses.ts'
import { sendBytes, jsonType } from '../http/send.ts'
import { Problem } from '../http/problems.ts'
import { timed, type NamedResponse } from '../http/responder.ts'
import type { Resource, ResourceRequest } from '../http/resource.ts'
import { parametersOf, type QueryParameters } from '../query/parameters.ts'
import { parseRowQuery, type RowQuery } from '../query/query.ts'
import { requesterOf } from '../routes/find.ts'
import { html, markup, textOf, type Html } from './html.ts'
import { frameHeight, frameWidth, iframeLine } from './iframe.ts'
import type { PageContext } from './frame.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import { isNumber } from '../documents/words/value-text.ts'
import { embedPolicy, named, pageAt, type PageService } from './service.ts'
import { chartKey, chartParameters, chartQuery, parseChart, sourceFacts } from './chart/chart-query.ts'
import { captionOf, chartView } from './chart/chart-view.ts'
import { drawingOf } from './chart/drawing.ts'
import { chartMarkup } from './chart/svg/svg.ts'
import { answerQuery, type AnswerableQuery } from './table/answer-query.ts'
import { cellPart, unitPart } from './table/grid.ts'
import { rowsPage, viewOf, withDefaultColumns, withNamedFields, type TableView } from './table/view.ts'

/** Pages that other sites show in frames: a chart or some rows, the source, and a link to the page. */

const rowsDefault = 10

interface Frame {
  readonly title: string
  readonly main: Html
  readonly page: string
  readonly facts: string
}

function frameHtml(
  { words, addresses, assets }: PageContext,
  { title, main, page, facts }: Frame,
  note: Html | false,
): Html {
  return html`<html lang="${words.locale}">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${title}</title>
      <link rel="icon" type="${assets.icon.mediaType}" href="${addresses.asset(assets.icon)}" />
      <link rel="stylesheet" href="${addresses.asset(assets.style)}" />
    </head>
    <body class="embed">
      <main>
        <h1><a href="${page}" target="_blank" rel="noopener">${title}</a></h1>
        ${main}
        <p class="facts">${facts}</p>
        ${note}
      </main>
    </body>
  </html>`
}

interface DescribedFrame {
  readonly key: readonly unknown[]
  readonly parameters: QueryParameters
  readonly rowBytes: number
  /** @param parameters of links, with the snapshot that is shown */
  readonly frame: (parameters: QueryParameters, signal: () => AbortSignal) => Promise<Frame>
}

/** Serves a table or chart in a frame, from the current snapshot if the requested one was deleted. */
function framesOf<Query extends Pick<RowQuery, 'snapshot'>>(
  service: PageService,
  kind: 'chart' | null,
  parse: (table: Table, target: string) => Query,
  describeFrame: (answerable: AnswerableQuery<Query>, request: ResourceRequest) => DescribedFrame,
): Resource {
  const { context, snapshots } = service
  const { addresses, language, words } = context
  const path = kind === null ? '/embed/:dataset/:table' : `/embed/:dataset/:table/${kind}`
  return {
    ...pageAt(service, path, kind === null ? 'Table in a frame' : 'Chart in a frame'),
    countsAs: 'rows',
    find: (request) => {
      const answer = (answerable: AnswerableQuery<Query>): NamedResponse => {
        const { table, snapshot, query } = answerable
        const shownId = snapshot.manifest.snapshot
        const { key, parameters, rowBytes, frame } = describeFrame(answerable, request)
        const isGone = query.snapshot !== null && query.snapshot !== 'current' && query.snapshot !== shownId
        const linkParameters = isGone ? new Map([...parameters, ['snapshot', shownId]]) : parameters
        const currentId = snapshots.current(table)?.manifest.snapshot ?? shownId
        const newestAddress = addresses.embed(
          language,
          table,
          kind,
          new Map([...linkParameters, ['snapshot', currentId]]),
        )
        const note =
          currentId === shownId
            ? isGone && html`<p>${words.versionGone}</p>`
            : html`<p><a href="${newestAddress}">${words.newerData}</a></p>`
        return {
          ...named(service, ['embed', ...key, isGone, currentId], embedPolicy),
          work: { rowBytes },
          body: async (signal) => {
            const content = await frame(linkParameters, signal)
            return timed(() => textOf(frameHtml(context, content, note)))
          },
        }
      }
      const orCurrent = true
      return answerQuery(service, request, parse, answer, orCurrent)
    },
  }
}

export function chartEmbed(service: PageService): Resource {
  const { context } = service
  return framesOf(service, 'chart', parseChart, (answerable, request) => {
    const query = chartQuery(answerable)
    return {
      key: chartKey('chart', query),
      parameters: chartParameters(query),
      rowBytes: 0,
      frame: async (parameters, signal) => {
        const view = await chartView(
          query,
          service.engine,
          requesterOf(request, signal, service.pageBytesMax),
        )
        const { title, facts } = captionOf(context, view)
        const drawing = drawingOf(context, view, null)
        return {
          title,
          main: html`${drawing.groups.length > 0 && markup(chartMarkup(drawing))}
          ${drawing.note !== '' && html`<p class="facts">${drawing.note}</p>`}`,
          page: context.addresses.aspect(context.language, view.table, 'chart', parameters),
          facts: facts.join(' · '),
        }
      },
    }
  })
}

export function tableEmbed(service: PageService): Resource {
  return framesOf(service, null, parseEmbedded, (answerable, request) => {
    const { table, snapshot, query } = answerable
    const page = rowsPage(snapshot, query)
    return {
      key: ['table', tableId(table), page.key],
      parameters: query.parameters,
      rowBytes: (page.range?.rows ?? 0) * snapshot.rowBytes,
      frame: async (parameters, signal) => {
        const { view } = await viewOf(answerable, page, service, request, signal)
        return tableFrame(service.context, withDefaultColumns(view), parameters)
      },
    }
  })
}

function parseEmbedded(table: Table, target: string): RowQuery {
  return withNamedFields(table, target, parseRowQuery(table, target, ['format'], rowsDefault))
}

function tableFrame(context: PageContext, view: TableView, parameters: QueryParameters): Frame {
  const { words, addresses, language } = context
  const { dataset, table, query, fields, rows, snapshot, range } = view
  const { count } = writtenIn(words)
  const title = `${dataset.name}, ${titleOf(table)}`
  const conditionTexts = describeFilter(query, words)
  const main = html`${conditionTexts.length > 0 && html`<p>${conditionTexts.join(' · ')}</p>`}
    <div class="scroll grid" tabindex="0" role="region" aria-label="${title}">
      <table>
        <thead>
          <tr>
            ${fields.map(
              (field) =>
                html`<th scope="col" class="${isNumber(field) ? 'number' : ''}">
                  ${titleOf(field)} ${unitPart(field)}
                </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${row.map((cell, index) => cellPart(context, fields[index], cell))}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`
  return {
    title,
    main,
    page: addresses.table(language, table, parameters),
    facts: `${rows.length < range.count ? `${count(rows.length)} ${words.of} ` : ''}${words.rows(count(range.count))} · ${sourceFacts(words, dataset, snapshot)}`,
  }
}

export function oEmbed(
  services: ReadonlyMap<string, PageService>,
  {
    publicUrl,
    catalog,
  }: Pick<PageService, 'publicUrl'> & { readonly catalog: PageService['writing']['catalog'] },
): Resource {
  return {
    path: '/oembed',
    name: 'oEmbed',
    description: `The frame of a table or a chart (https://oembed.com). ${catalog.notice}`,
    respond: async ({ target }, _req, res) => {
      // Consumers send parameters of their own, which the specification allows.
      const query = new Map(parametersOf(target))
      if ((query.get('format') ?? 'json') !== 'json')
        throw new Problem('not-acceptable', 'The parameter "format" must be json.')
      const frame = frameAt(query.get('url') ?? '', publicUrl, services)
      if (frame === null)
        throw new Problem(
          'unknown-address',
          'The parameter "url" must be the address of a table or a chart of this service.',
        )
      const { src, title } = frame
      const limitedSize = (name: string, size: number): number => {
        const max = Number(query.get(name) ?? size)
        return max >= 1 ? Math.min(size, Math.floor(max)) : size
      }
      const [width, height] = [limitedSize('maxwidth', frameWidth), limitedSize('maxheight', frameHeight)]
      const body = {
        version: '1.0',
        type: 'rich',
        title,
        provider_name: catalog.title,
        provider_url: fileAddresses(publicUrl).base.replace(/files$/, ''),
        width,
        height,
        html: iframeLine(src, title, width, height),
      }
      sendBytes(res, jsonType, [JSON.stringify(body)])
    },
  }
}

function frameAt(
  url: string,
  { origin, pathname }: URL,
  services: ReadonlyMap<string, PageService>,
): { readonly src: string; readonly title: string } | null {
  const base = pathname.replace(/\/$/, '')
  if (!url.startsWith(`${origin}${base}/`) || !URL.canParse(url)) return null
  const { pathname: path, searchParams } = new URL(url)
  const [, language = '', slug = '', name = '', chartSegment] =
    /^\/([a-z]+)\/dataset\/([^/]+)\/([^/]+)\/(chart\/)?$/.exec(path.slice(base.length)) ?? []
  const service = services.get(language)
  const table = service?.catalog.datasets.get(slug)?.tables.get(name)
  if (service === undefined || table === undefined) return null
  const { addresses } = service.context
  const snapshot = service.snapshots.current(table)?.manifest.snapshot
  const parameters = new Map([
    ...searchParams,
    ...(snapshot === undefined || searchParams.has('snapshot') ? [] : ([['snapshot', snapshot]] as const)),
  ])
  const src =
    origin +
    addresses.embed(service.context.language, table, chartSegment === undefined ? null : 'chart', parameters)
  return { src, title: `${service.catalog.datasets.get(slug)?.name ?? slug}, ${name}` }
}
