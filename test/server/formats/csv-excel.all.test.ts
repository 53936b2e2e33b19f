import { rawGet, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

test.each([true, false])(
  'spreadsheets read numbers, times and texts as they write them (packed: %s)',
  async (packed) => {
    const names = ['f:float', 'd:decimal:10:2', 't:datetime', 'w:text', 'i:integer', 'b:bool', 'p:point']
    const shop = await workshop(
      catalogAround([{ name: 't', order: ['i'], packed, fields: names.map(fieldOf) }]),
      {
        'd/t.csv': [
          'f,d,t,w,i,b,p',
          '1.5e-7,-1234.50,2020-01-02 03:04:05.5,"a;b",1,true,"-1.5,2"',
          '2,0,2020-01-02 00:00:00,"a,b ""c""",2,false,"3,4"',
          ',,,"",3,,',
          '10.25,7,2021-01-01 10:00:00,"=1+1\nx.y",4,true,',
          '',
        ].join('\n'),
      },
    )
    await shop.ingest()
    const { app, close } = await serve(shop)
    const due = [
      '\ufefff;d;t;w;i;b;p',
      '1,5e-07;-1234,50;2020-01-02 03:04:05.5;"a;b";1;true;-1.5,2',
      '2,0;0,00;2020-01-02 00:00:00;"a,b ""c""";2;false;3,4',
      ';;;;3;;',
      `10,25;7,00;2021-01-01 10:00:00;"'=1+1\nx.y";4;true;`,
      '',
    ].join('\r\n')
    for (const address of ['data/?', 'export/?', 'data/?i__gt=0&', 'data/?ordering=i&page_size=4&']) {
      const answer = await rawGet(app, `/api/v1/dataset/d/t/${address}format=csv-excel`, {
        'Accept-Encoding': 'identity',
      })
      expect([answer.status, answer.body.toString()]).toEqual([200, due])
      expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="d-t-.*\.csv"$/)
    }
    // Caches of one format must not serve the other.
    const plain = [
      'f,d,t,w,i,b,p',
      '1.5e-07,-1234.50,2020-01-02T03:04:05.5,a;b,1,true,"-1.5,2"',
      '2.0,0.00,2020-01-02T00:00:00,"a,b ""c""",2,false,"3,4"',
      ',,,,3,,',
      '10.25,7.00,2021-01-01T10:00:00,"=1+1\nx.y",4,true,',
      '',
    ].join('\r\n')
    const other = await serve(shop)
    for (const [asked, formats] of [
      [app, ['csv']],
      [other.app, ['csv', 'csv-excel']],
    ] as const) {
      for (const format of formats) {
        const { body } = await rawGet(asked, `/api/v1/dataset/d/t/data/?i__gt=0&format=${format}`)
        expect(body.toString()).toBe(format === 'csv' ? plain : due)
      }
    }
    await other.close()
    await close()
  },
)

test.each([true, false])('no text is a formula (packed: %s)', async (packed) => {
  const texts = ['=1+1', '+55 11', '-1', '@SUM(A1)', '\t=1', 'a=1', ' =1', "'=1", '-', 'São']
  const shop = await workshop(
    catalogAround([{ name: 't', order: ['n'], packed, fields: ['n:integer', 's:string'].map(fieldOf) }]),
    { 'd/t.csv': `n,s\n${texts.map((text, n) => `${n},"${text}"`).join('\n')}\n` },
  )
  await shop.ingest()
  const { app } = await serve(shop)
  const due = ["'=1+1", "'+55 11", "'-1", "'@SUM(A1)", '\t=1', 'a=1', ' =1', "'=1", "'-", 'São']
  for (const address of ['data/?', 'export/?', 'data/?n__gte=0&']) {
    const { body } = await rawGet(app, `/api/v1/dataset/d/t/${address}format=csv-excel`)
    const lines = body.toString().slice(1).trimEnd().split('\r\n')
    expect([address, lines.slice(1).map((line) => line.slice(line.indexOf(';') + 1))]).toEqual([address, due])
  }
})
