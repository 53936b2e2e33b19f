import { snapshotsIn } from '../../../core/warehouse/publish.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, importDate, temporaryFolder, workshop } from '../../support/workshop.ts'

/** History of a row by its key, over the kept snapshots. */

const versions = [
  ['1,Belém,5', '2,Jaú,7', '5,Olinda,1'],
  ['1,Belém,5', '2,Jaú,8'],
  ['1,Belém do Pará,6', '3,Ita,1'],
  ['1,Belém,6', '3,Ita,1', '5,Olinda,1'],
]
const at = (index: number): string => new Date(importDate.getTime() + index * 60_000).toISOString()

let service: Service
const ids: string[] = []
beforeAll(async () => {
  const table = {
    name: 't',
    order: ['id'],
    key: ['id'],
    filters: ['city'],
    fields: ['id:integer', 'city:string', 'n:integer'].map(fieldOf),
  }
  const keyless = { ...table, name: 'keyless', key: undefined }
  const large = {
    name: 'large',
    order: [],
    key: ['id'],
    fields: ['id:integer', 'n:integer', 'price:decimal'].map(fieldOf),
  }
  const shop = await workshop(catalogAround([table, keyless, large]), {
    'd/keyless.csv': 'id,city,n\n1,x,1\n',
  })
  await shop.ingest({ tables: ['keyless'] })
  for (const [index, number] of ['9007199254740992', '9007199254740993'].entries()) {
    await shop.write('d/large.csv', `id,n,price\n1,${number},1\n`)
    await shop.ingest({ tables: ['large'], now: () => new Date(at(index)) })
  }
  for (const [index, lines] of versions.entries()) {
    await shop.write('d/t.csv', `id,city,n\n${lines.join('\n')}\n`)
    const [outcome] = await shop.ingest({ tables: ['t'], now: () => new Date(at(index)) })
    if (outcome?.status !== 'published') throw new Error('not published')
    ids.push(outcome.manifest.snapshot)
  }
  service = await serve(shop, { snapshotsKept: 9 })
})

const get = async (query: string, table = 't'): Promise<{ status: number; body: unknown }> => {
  const { status, body } = await rawGet(service.app, `/api/v1/dataset/d/${table}/history/${query}`)
  return { status, body: JSON.parse(body.toString()) }
}
const seen = (index: number): object => ({ snapshot: ids[index], import_date: at(index) })

test('a row that changed has each change, the latest first', async () => {
  expect(await get('?id=1')).toEqual({
    status: 200,
    body: {
      key: { id: 1 },
      row: { id: 1, city: 'Belém', n: 6 },
      first_seen: seen(0),
      is_first_known: true,
      last_seen: seen(3),
      changes: [
        { ...seen(3), change: 'changed', fields: [{ field: 'city', from: 'Belém do Pará', to: 'Belém' }] },
        {
          ...seen(2),
          change: 'changed',
          fields: [
            { field: 'city', from: 'Belém', to: 'Belém do Pará' },
            { field: 'n', from: 5, to: 6 },
          ],
        },
      ],
    },
  })
})

test.each<
  [title: string, query: string, first: number | null, last: number | null, kinds: readonly string[]]
>([
  ['was removed', '?id=2', 0, 1, ['removed', 'changed']],
  ['was added', '?id=3', 2, 3, ['added']],
  ['was removed and came back', '?id=5', 0, 3, ['added', 'removed']],
  ['never was', '?id=4', null, null, []],
])('a row that %s was seen from its first snapshot to its last', async (_what, query, first, last, kinds) => {
  const { body } = await get(query)
  const history = body as { first_seen: unknown; last_seen: unknown; changes: { change: string }[] }
  expect([history.first_seen, history.last_seen, history.changes.map(({ change }) => change)]).toEqual([
    first === null ? null : seen(first),
    last === null ? null : seen(last),
    kinds,
  ])
})

test('numbers keep all of their digits', async () => {
  const { body } = await rawGet(service.app, '/api/v1/dataset/d/large/history/?id=1')
  expect(body.toString()).toContain('"row":{"id":1,"n":9007199254740993,"price":1.00}')
  expect(body.toString()).toContain('"fields":[{"field":"n","from":9007199254740992,"to":9007199254740993}]')
})

test.each([
  ['', 't', /"id" is missing: a row is identified by id/],
  ['?id=x', 't', /"id" is not a value of its field/],
  ['?id=1&n=1', 't', /no parameter "n"/],
  ['?id=1', 'keyless', /has no key/],
])('the history of the row "%s" of the table %s is refused', async (query, table, detail) => {
  const { status, body } = await get(query, table)
  expect([status, (body as { detail: string }).detail]).toEqual([400, expect.stringMatching(detail)])
})

test('the page of a row leads to its history', async () => {
  const { body } = await rawGet(service.app, '/en/dataset/d/t/row/1/', { Accept: 'text/html' })
  expect(body.toString()).toContain('/api/v1/dataset/d/t/history/?id=1')
})

test('after a new field, the history and the feed of a query begin with the first snapshot that has it', async () => {
  const home = await temporaryFolder()
  const publish = async (day: number, fields: readonly string[], ...lines: string[]) => {
    const shop = await workshop(
      catalogAround([{ name: 't', order: ['id'], key: ['id'], fields: fields.map(fieldOf) }]),
      { 'd/t.csv': lines.map((line) => `${line}\n`).join('') },
      home,
    )
    await shop.ingest({ now: () => new Date(Date.UTC(2026, 0, day)) })
    return shop
  }
  const [before, after] = [
    ['id:integer', 'n:integer'],
    ['id:integer', 'n:integer', 'z:string'],
  ] as const
  const first = await publish(1, before, 'id,n', '1,1')
  const [oldest = ''] = await snapshotsIn(first.store, { dataset: 'd', name: 't' })
  await publish(2, before, 'id,n', '1,2')
  await publish(3, after, 'id,n,z', '1,2,x')
  const shop = await publish(4, after, 'id,n,z', '1,3,x')
  const { app } = await serve(shop, { snapshotsKept: 9 })
  const history = await rawGet(app, '/api/v1/dataset/d/t/history/?id=1')
  const {
    row,
    is_first_known: isFirstKnown,
    changes,
  } = JSON.parse(history.body.toString()) as {
    readonly row: unknown
    readonly is_first_known: boolean
    readonly changes: readonly { readonly fields: unknown }[]
  }
  expect([history.status, row, isFirstKnown, changes.map(({ fields }) => fields)]).toEqual([
    200,
    { id: 1, n: 3, z: 'x' },
    false,
    [[{ field: 'n', from: 2, to: 3 }]],
  ])
  expect((await rawGet(app, '/feeds/d/t/atom.xml?n__gte=2')).status).toBe(200)
  for (const target of [`/api/v1/dataset/d/t/data/?snapshot=${oldest}`, `/files/d/t/${oldest}/t.csv.gz`]) {
    const { status, body } = await rawGet(app, target)
    expect([status, (JSON.parse(body.toString()) as { detail: string }).detail]).toEqual([
      410,
      expect.stringContaining(
        `The snapshot ${oldest} of d/t has other fields than the catalog now declares, and is not served; the current `,
      ),
    ])
  }
  expect((await rawGet(app, `/api/v1/dataset/d/t/changes/?since=${oldest}`)).status).toBe(200)
})
