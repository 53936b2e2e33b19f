import { cut, file, startWeb, status, webShop, type Act } from '../support/web.ts'

const csv = 'a,b\nx,1\ny,2\n'
const at = '/base/d/t.csv'
const address = 'http://web/base/d/t.csv'
const one = { etag: '"1"' }
const to = (location: string, code = 302): Act => status(code, { location }, 'elsewhere')
const refusal = (host: string): string =>
  `failed: ${address} redirects to ${host}, a private address: refused; write the address itself if it is meant`

describe('a server that leads elsewhere on itself', () => {
  test('is followed by its whole address too, and with what is to be resumed', async () => {
    const web = await startWeb({ '/moved.csv': [cut(csv, 7, one), file(csv, one)] })
    web.at(at, to(`${web.origin}/moved.csv`))
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual([
      ['x', 1],
      ['y', 2],
    ])
    const range = ' range: bytes=7- if-range: "1"'
    expect(web.asked).toEqual([at, '/moved.csv', at + range, `/moved.csv${range}`])
  })

  test('is not followed in a circle', async () => {
    const web = await startWeb({ [at]: to(at) })
    await expect((await webShop(web)).run()).resolves.toBe(`failed: ${address} redirects more than 5 times`)
    expect(web.asked).toEqual(Array.from({ length: 6 }, () => at))
  })

  test('but says not where, fails its table', async () => {
    const web = await startWeb({ [at]: status(302) })
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: ${address} answers 302: see that it is the address of the file`,
    )
  })

  test('to what is no address fails its table, naming it', async () => {
    const web = await startWeb({ [at]: to('http://[') })
    await expect((await webShop(web)).run()).resolves.toMatch(`failed: ${address} `)
  })

  test('to what is missing counts as missing', async () => {
    const web = await startWeb({ [at]: to('/moved.csv') })
    await expect((await webShop(web)).run()).resolves.toBe('skipped')
  })
})

/** A place that only this machine reaches: a server that counts who connects, also by IPv6 where the machine has it. */
async function hiddenWeb(): Promise<{ port: number; connections: () => number }> {
  const { port, connections } = await startWeb({ '/t.csv': file(csv) })
  const other = await startWeb({ '/t.csv': file(csv) }, port, '::1').catch(() => null)
  return { port, connections: () => connections() + (other?.connections() ?? 0) }
}

describe('a server that leads to a place that only this machine reaches', () => {
  test('is refused though the same place may be named by the catalog', async () => {
    const { port, connections } = await hiddenWeb()
    const there = `http://127.0.0.1:${port}/t.csv`
    const shop = await webShop(await startWeb({ [at]: to(there) }), { files: ['http://web' + at, there] })
    await expect(shop.run()).resolves.toBe(refusal('127.0.0.1'))
    expect(connections()).toBe(0)
    const meant = await webShop(await startWeb(), { files: there })
    await expect(meant.run()).resolves.toBe('published')
    expect(connections()).toBe(1)
  })
})

test('a server that leads to a name that nobody can have fails its table, and nothing else', async () => {
  const name = `${'x'.repeat(64)}.invalid`
  const web = await startWeb({ [at]: to(`http://${name}/t.csv`) })
  await expect((await webShop(web)).run()).resolves.toMatch(
    new RegExp(`^failed: ${address} could not be fetched in 5 tries: getaddrinfo E\\w+ ${name}`),
  )
}, 3000)
