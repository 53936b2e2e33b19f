import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { fileAddresses } from '../http/addresses.ts'
import { sendBytes, jsonType } from '../http/send.ts'
import { Problem } from '../http/problems.ts'
import { timed } from '../http/responder.ts'
import type { Resource } from '../http/resource.ts'
import { parseQuery } from '../query/parameters.ts'
import { parseRowQuery, type RowQuery } from '../query/query.ts'
import { html, markup, textOf, type Html } from './html.ts'
import { frameHeight, frameWidth, iframeLine } from './iframe.ts'
import type { PageContext } from './frame.ts'
import { writtenIn } from './number-formats.ts'
import { embedPolicy, named, pageAt, type PageService } from './service.ts'
import { chartKey, chartParameters, chartQuery, parseChart, sourceFacts } from './chart/chart-query.ts'
import { captionOf, chartView } from './chart/chart-view.ts'
import { drawingOf } from './chart/drawing.ts'
import { chartSvg } from './chart/svg.ts'
import { answerQuery, type AnswerableQuery } from './table/answer-query.ts'
import { rowParameters, rowsPage, titleOf, viewOf, type TableView } from './table/view.ts'

/** Pages for frames of other sites: a chart or some rows, their source, and a link to the whole page. */

const rowsDefault = 10

interface Frame {
  readonly title: string
  readonly main: Html
  /** Address of the page with everything else. */
  readonly page: string
  readonly facts: string
}

function frameHtml(
  { words, addresses, assets }: PageContext,
  { title, main, page, facts }: Frame,
  newest: string | null,
): Html {
  return html`<html lang="${words.locale}">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${title}</title>
      <link rel="stylesheet" href="${addresses.asset(assets.style)}" />
    </head>
    <body class="embed">
      <main>
        <h1><a href="${page}" target="_blank" rel="noopener">${title}</a></h1>
        ${main}
        <p class="facts">${facts}</p>
        ${newest !== null && html`<p><a href="${newest}">${words.newerData}</a></p>`}
      </main>
    </body>
  </html>`
}

/** Returns the same frame for the current snapshot; null if it is the current one. */
function newerFrame(
  { snapshots, context: { addresses, language } }: PageService,
  { table, snapshot }: Pick<AnswerableQuery<unknown>, 'table' | 'snapshot'>,
  kind: 'chart' | null,
  parameters: ReadonlyMap<string, string>,
): string | null {
  const current = snapshots.current(table)?.manifest.snapshot
  if (current === undefined || current === snapshot.manifest.snapshot) return null
  return addresses.embed(language, table, kind, new Map([...parameters, ['snapshot', current]]))
}

export function chartEmbed(service: PageService): Resource {
  const { context, responder } = service
  return {
    ...pageAt(service, '/embed/:dataset/:table/chart', 'Chart in a frame'),
    countsAs: 'rows',
    respond: (request, req, res) =>
      answerQuery(
        service,
        request,
        res,
        parseChart,
        async (found) => {
          const query = chartQuery(found)
          const parameters = chartParameters(query)
          const newest = newerFrame(service, query, 'chart', parameters)
          res.removeHeader('X-Frame-Options')
          await responder.send(req, res, {
            ...named(service, [...chartKey('chart embed', query), newest], embedPolicy),
            body: async (signal) => {
              const view = await chartView(query, service, request, signal)
              const { title, facts } = captionOf(context, view)
              const drawing = drawingOf(context, view, null)
              const page = context.addresses.aspect(context.language, view.table, 'chart', parameters)
              const main = html`${markup(chartSvg(drawing, null))}
              ${drawing.left !== '' && html`<p class="facts">${drawing.left}</p>`}`
              return timed(() =>
                textOf(frameHtml(context, { title, main, page, facts: facts.join(' · ') }, newest)),
              )
            },
          })
        },
        true,
      ),
  }
}

export function tableEmbed(service: PageService): Resource {
  const { context, responder } = service
  return {
    ...pageAt(service, '/embed/:dataset/:table', 'Table in a frame'),
    countsAs: 'rows',
    respond: (request, req, res) =>
      answerQuery(
        service,
        request,
        res,
        parseEmbedded,
        async (found) => {
          const { table, snapshot, query } = found
          const page = rowsPage(snapshot, query)
          const newest = newerFrame(service, found, null, query.parameters)
          res.removeHeader('X-Frame-Options')
          await responder.send(req, res, {
            ...named(service, ['table embed', tableId(table), page.key, newest], embedPolicy),
            work: { rowBytes: (page.range?.rows ?? 0) * snapshot.rowBytes },
            body: async (signal) => {
              const { view, serverTiming } = await viewOf(found, page, service, request, signal)
              return { pieces: [textOf(frameHtml(context, tableFrame(context, view), newest))], serverTiming }
            },
          })
        },
        true,
      ),
  }
}

function parseEmbedded(table: Table, target: string): RowQuery {
  return parseRowQuery(table, target, ['format'], rowsDefault)
}

function tableFrame({ words, addresses, language }: PageContext, view: TableView): Frame {
  const { dataset, table, fields, rows, snapshot, range } = view
  const { count } = writtenIn(words)
  const title = `${dataset.name}, ${table.name}`
  const main = html`<div class="scroll grid" tabindex="0" role="region" aria-label="${title}">
    <table>
      <thead>
        <tr>
          ${fields.map((field) => html`<th scope="col">${titleOf(field)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
  return {
    title,
    main,
    page: addresses.table(language, table, rowParameters(view)),
    facts: `${words.rows(count(range.count))} · ${sourceFacts(words, dataset, snapshot)}`,
  }
}

/** Describes the frame of a page of this service (https://oembed.com). */
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
      const query = parseQuery(target, ['url', 'format', 'maxwidth', 'maxheight'])
      const found = embeddable(query.get('url') ?? '', publicUrl, services)
      if (found === null)
        throw new Problem(
          'unknown-address',
          'The parameter "url" must be the address of a table or a chart of this service.',
        )
      const { src, title } = found
      const [width, height] = [
        Math.min(frameWidth, Number(query.get('maxwidth') ?? Infinity) || frameWidth),
        Math.min(frameHeight, Number(query.get('maxheight') ?? Infinity) || frameHeight),
      ]
      const body = {
        version: '1.0',
        type: 'rich',
        title,
        provider_name: catalog.title,
        provider_url: fileAddresses(publicUrl).base.replace(/files$/, ''),
        width,
        height,
        html: iframeLine(src, title),
      }
      sendBytes(res, jsonType, [JSON.stringify(body)])
    },
  }
}

/** Returns the address of the frame of a page; null if it has none. */
function embeddable(
  url: string,
  { origin, pathname }: URL,
  services: ReadonlyMap<string, PageService>,
): { readonly src: string; readonly title: string } | null {
  const base = pathname.replace(/\/$/, '')
  if (!url.startsWith(`${origin}${base}/`) || !URL.canParse(url)) return null
  const { pathname: path, searchParams } = new URL(url)
  const [, language = '', slug = '', name = '', kind] =
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
    origin + addresses.embed(service.context.language, table, kind === undefined ? null : 'chart', parameters)
  return { src, title: `${service.catalog.datasets.get(slug)?.name ?? slug}, ${name}` }
}
