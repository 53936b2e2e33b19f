import request from 'supertest'
import { getPage, serve } from '../support/service.ts'
import { tinyCatalog, workshop } from '../support/workshop.ts'
import { isQuick } from '../support/runs.ts'

const address = '/api/v1/dataset/d/t/data/'

test('a page that needs more memory than a query may use is a 422 that says what to do', async () => {
  const long = 'y'.repeat(100_000)
  const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'] }), {
    'd/t.csv': `n,s\n${Array.from({ length: 700 }, (_, index) => `${index},${long}`).join('\n')}\n`,
  })
  await shop.ingest()
  const { app } = await serve(shop, { memory: '64MB' })
  const response = await request(app).get(address).expect(422)
  expect(response.body).toMatchObject({
    type: 'urn:acervo:problem:page-too-large',
    detail:
      'The rows of this page need more memory than a page may use: ask for fewer with page_size, or for fewer fields with fields.',
  })
  expect((await getPage(app, `${address}?page_size=1&page=700`)).results).toEqual([{ n: 699, s: long }])
})

test('a page beside unusually long rows is read alone where the block of them does not fit', async () => {
  const [short, long] = [20_000, isQuick ? 150 : 400]
  const text = 'y'.repeat(100_000)
  const lines = Array.from({ length: short + long }, (_, n) => `${n},${n < short ? 'x' : text}`)
  const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] }), {
    'd/t.csv': `n,s\n${lines.join('\n')}\n`,
  })
  await shop.ingest()
  const { app, pool } = await serve(shop, { memory: '64MB' })
  const read = []
  // A walk, whose second page begins with its block, backwards.
  for (const page of ['last', short + long - 1])
    read.push((await getPage(app, `${address}?page_size=1&page=${page}`)).results, pool.statements)
  expect(read).toEqual([[{ n: short + long - 1, s: text }], 1, [{ n: short + long - 2, s: text }], 3])
  expect((await getPage(app, `${address}?page_size=2&page=3`)).results.map(({ n }) => n)).toEqual([4, 5])
})
