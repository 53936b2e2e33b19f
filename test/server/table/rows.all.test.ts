import request from 'supertest'
import { getPage, serve } from '../../support/service.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'
import { isQuick } from '../../support/runs.ts'

/** Pages of rows that are too large for the memory allowed. */

const address = '/api/v1/dataset/d/t/data/'

test('a page that needs more memory than allowed is a 422 with a remedy', async () => {
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
      'The rows of this page need more memory than a page may use: request fewer rows with the parameter page_size, or fewer fields with the parameter fields.',
  })
  expect((await getPage(app, `${address}?page_size=1&page=700`)).results).toEqual([{ n: 699, s: long }])
})

test('a page of one row is read without the unusually long rows beside it', async () => {
  const [short, long] = [20_000, isQuick ? 150 : 400]
  const textOf = (n: number): string => (n < short ? 'x' : String(n).padEnd(100_000, 'y'))
  const lines = Array.from({ length: short + long }, (_, n) => `${n},${textOf(n)}`)
  const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] }), {
    'd/t.csv': `n,s\n${lines.join('\n')}\n`,
  })
  await shop.ingest()
  const { app } = await serve(shop, { memory: '64MB' })
  const last = short + long - 1
  for (const n of [last, last - 1, 5])
    expect((await getPage(app, `${address}?page_size=1&page=${n + 1}`)).results).toEqual([
      { n, s: textOf(n) },
    ])
})
