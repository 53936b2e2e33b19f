import { cells } from '../../formats/cells.ts'
import { withQuery } from '../../http/addresses.ts'
import type { ResourceRequest } from '../../http/resource.ts'
import type { AskView, TableView } from '../../pages/table/view.ts'
import type { RowQuery } from '../../query/query.ts'
import {
  type PageLinks,
  pageBody,
  pageOf,
  type Page,
  type PageBody,
} from '../../table/representations/page.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { rowAddresses, type PageService } from './documents.ts'
import { requesterOf } from '../find.ts'

/** What pages of rows for people share: the rows of a query as texts, and what is known around them. */

/** A page has links of its own. */
const noLinks: PageLinks = { to: () => '', alternates: () => [], wholeFile: '' }

export function rowsPage(snapshot: Snapshot, query: RowQuery): Page {
  return pageOf(snapshot, query, cells, noLinks)
}

interface Viewed {
  readonly view: TableView
  readonly serverTiming: string
}

export async function viewOf(
  asked: AskView,
  page: Page,
  service: PageService,
  request: ResourceRequest,
  signal: () => AbortSignal,
): Promise<Viewed> {
  const { engine, pageBytesMax } = service
  const body = await pageBody(page, engine, requesterOf(request, signal, pageBytesMax))
  return { view: viewFrom(asked, body, service), serverTiming: body.serverTiming }
}

function viewFrom(
  { dataset, table, snapshot, query }: AskView,
  { pieces, range, positions, hints }: PageBody,
  service: PageService,
): TableView {
  const shown = table.fields.filter((field) => query.fields.includes(field))
  // They are read in the alphabetical order of the fields.
  const places = shown.map((field) => query.fields.indexOf(field))
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const texts = JSON.parse(Buffer.concat(bytes).toString()) as (string | null)[][]
  const addresses = rowAddresses(service)
  const [exported, data] = [addresses.export(dataset, table), addresses.data(dataset, table)]
  return {
    dataset,
    table,
    snapshot,
    query,
    range,
    positions,
    hints,
    files: service.files,
    fields: shown,
    rows: texts.map((row) => places.map((place) => row[place] ?? null)),
    exportAddress: (parameters) => withQuery(exported, parameters, 1),
    dataAddress: (parameters, page) => withQuery(data, parameters, page),
  }
}
