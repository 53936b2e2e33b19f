import dns from 'node:dns'
import { type Act, cut, file, startWeb, status, webShop } from './support/web-server.ts'
import { testAll, testSampled } from '../support/runs.ts'

/** Sources on the web that redirect. */

const csv = 'a,b\nx,1\ny,2\n'
const at = '/base/d/t.csv'
const address = 'http://web/base/d/t.csv'
const headers = { etag: '"1"' }
const later = { now: () => new Date('2027-01-01T00:00:00Z') }
const to = (location: string, code = 302): Act => status(code, { location }, 'elsewhere')
const refusal = (host: string): string =>
  `failed: ${address} redirects to ${host}, a private address: refused; if that is intended, declare the private address in source.files`

describe('a server that redirects to itself', () => {
  testSampled<[code: number, location: string]>([
    [301, '/moved.csv'],
    [302, '../../moved.csv'],
    [303, '/moved.csv#top'],
    [307, '/moved.csv'],
    [308, '/moved.csv'],
  ])('is followed: %d to %s', async (code, location) => {
    const web = await startWeb({ [at]: to(location, code), '/moved.csv': file(csv, headers) })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.run(later)).resolves.toBe('unchanged')
    const condition = ' if-none-match: "1"'
    expect(web.asked).toEqual([at, '/moved.csv', at + condition, `/moved.csv${condition}`])
    const facts = { name: 't.csv', bytes: csv.length, sha256: expect.any(String) }
    expect(shop.published()).toEqual([{ ...facts, address, ...headers }])
  })

  test('is followed five times, and no further', async () => {
    const web = await startWeb({ [at]: to('/1'), '/5': file(csv) })
    for (const step of [1, 2, 3, 4]) web.at(`/${step}`, to(`/${step + 1}`))
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    web.at('/5', to('/6'))
    await expect(shop.run()).resolves.toBe(
      `failed: ${address} redirects more than 5 times: check the address`,
    )
    expect(web.asked).toHaveLength(12)
  })

  testAll('is followed to a complete address too, and when a download is resumed', async () => {
    const web = await startWeb({ '/moved.csv': [cut(csv, 7, headers), file(csv, headers)] })
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

  testAll('is not followed in a circle', async () => {
    const web = await startWeb({ [at]: to(at) })
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: ${address} redirects more than 5 times: check the address`,
    )
    expect(web.asked).toEqual(Array.from({ length: 6 }, () => at))
  })

  testAll('without a target fails its table', async () => {
    const web = await startWeb({ [at]: status(302) })
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: ${address} answers 302: check the address`,
    )
  })

  testAll('to an invalid address fails its table with a message that names the address', async () => {
    const web = await startWeb({ [at]: to('http://[') })
    await expect((await webShop(web)).run()).resolves.toMatch(`failed: ${address} `)
  })

  testAll('to a missing file counts as missing', async () => {
    const web = await startWeb({ [at]: to('/moved.csv') })
    await expect((await webShop(web)).run()).resolves.toBe('skipped')
  })
})

/** A place that only this machine reaches: a server that counts who connects, also by IPv6 where the machine has it. */
async function hiddenWeb(): Promise<{ port: number; connections: () => number }> {
  const { port, connections } = await startWeb({ '/t.csv': file(csv) })
  const secondWeb = await startWeb({ '/t.csv': file(csv) }, port, '::1').catch(() => null)
  return { port, connections: () => connections() + (secondWeb?.connections() ?? 0) }
}

describe('a server that redirects to a private address', () => {
  testSampled<[location: string, host: string]>([
    ['http://127.0.0.1:PORT/t.csv', '127.0.0.1'],
    ['//127.0.0.1:PORT/t.csv', '127.0.0.1'],
    ['https://127.0.0.1:PORT/t.csv', '127.0.0.1'],
    ['http://public@127.0.0.1:PORT/t.csv', '127.0.0.1'],
    ['http://127.0.0.1.:PORT/t.csv', '127.0.0.1'],
    ['http://127.1:PORT/t.csv', '127.0.0.1'],
    ['http://0x7f000001:PORT/t.csv', '127.0.0.1'],
    ['http://017700000001:PORT/t.csv', '127.0.0.1'],
    ['http://2130706433:PORT/t.csv', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://0.0.0.0:PORT/t.csv', '0.0.0.0'],
    ['http://[::]:PORT/t.csv', '::'],
    ['http://[::1]:PORT/t.csv', '::1'],
    ['http://[::ffff:127.0.0.1]:PORT/t.csv', '::ffff:7f00:1'],
    ['http://[::127.0.0.1]:PORT/t.csv', '::7f00:1'],
    ['http://[64:ff9b::127.0.0.1]:PORT/t.csv', '64:ff9b::7f00:1'],
    ['http://[2002:7f00:1::]/t.csv', '2002:7f00:1::'],
    ['http://[fd00::1]/t.csv', 'fd00::1'],
    ['http://[fe80::1]/t.csv', 'fe80::1'],
    ['http://10.0.0.1/t.csv', '10.0.0.1'],
    ['http://172.16.0.1/t.csv', '172.16.0.1'],
    ['http://192.168.0.1/t.csv', '192.168.0.1'],
    ['http://100.64.0.1/t.csv', '100.64.0.1'],
    ['http://169.254.169.254/latest/meta-data/', '169.254.169.254'],
    ['http://224.0.0.1/t.csv', '224.0.0.1'],
    ['http://255.255.255.255/t.csv', '255.255.255.255'],
    ['http://localhost:PORT/t.csv', 'localhost (127.0.0.1)'],
  ])(
    'is refused at once: %s',
    async (location, host) => {
      const { port, connections } = await hiddenWeb()
      const web = await startWeb({ [at]: to('/hop'), '/hop': to(location.replace('PORT', String(port))) })
      await expect((await webShop(web)).run()).resolves.toBe(refusal(host))
      expect(web.asked).toEqual([at, '/hop'])
      expect(connections()).toBe(0)
    },
    3000,
  )

  testSampled<[location: string]>([
    ['file:///etc/hostname'],
    ['ftp://example.org/t.csv'],
    ['data:text/csv,a,b'],
    ['javascript:void'],
  ])('or to an address of another protocol is refused at once: %s', async (location) => {
    const web = await startWeb({ [at]: to(location) })
    await expect((await webShop(web)).run()).resolves.toBe(
      `failed: ${address} redirects to ${location}: refused, since that is less secure`,
    )
    expect(web.asked).toEqual([at])
  })

  testAll('is refused, though the catalog may name the same address', async () => {
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

describe('a server whose name resolves to a private address', () => {
  const [outside, inside] = ['93.184.215.14', '127.0.0.1'].map((ip) => ({ address: ip, family: 4 }))
  test.each([
    [[outside, inside], refusal('data.test (127.0.0.1)')],
    [[inside], 'published'],
  ])('may redirect to itself only if its address was private from the start: %j', async (first, outcome) => {
    const web = await startWeb({ [at]: to('/moved.csv'), '/moved.csv': file(csv) })
    const answers = [first]
    jest
      .spyOn(dns, 'lookup')
      .mockImplementation(((_name: string, _options: object, callback: (...args: unknown[]) => void) =>
        callback(null, answers.shift() ?? [inside])) as unknown as typeof dns.lookup)
    const shop = await webShop(web, { files: `http://data.test:${web.port}${at}` })
    expect((await shop.run()).replace(`data.test:${web.port}`, 'web')).toBe(outcome)
    expect(web.asked).toEqual(outcome === 'published' ? [at, '/moved.csv'] : [at])
  })
})

testAll(
  'a redirect to an impossible name fails its table, and no other one',
  async () => {
    const name = `${'x'.repeat(64)}.invalid`
    const web = await startWeb({ [at]: to(`http://${name}/t.csv`) })
    await expect((await webShop(web)).run()).resolves.toMatch(
      new RegExp(`^failed: ${address} could not be fetched in 5 tries: getaddrinfo E\\w+ ${name}`),
    )
  },
  3000,
)
