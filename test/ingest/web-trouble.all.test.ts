import { describe, expect, test } from '@jest/globals'
import { cut, rest, slow, startWeb, webShop, type Act } from '../support/web.ts'

const lines = (text: string): string => Array.from({ length: 300 }, (_, n) => `${text}${n},${n}\n`).join('')
const rowsOf = (text: string): unknown[][] => Array.from({ length: 300 }, (_, n) => [`${text}${n}`, n])
const csv = `a,b\n${lines('x')}`
const one = { etag: '"1"' }
const at = '/base/d/t.csv'

describe('a server in trouble', () => {
  const says: { readonly nothing: Act } = { nothing: () => undefined }

  test('that falls silent is asked again, for the rest', async () => {
    const stuck: Act = (_request, response) => {
      response.writeHead(200, { 'content-length': csv.length, etag: '"1"' })
      response.write(csv.slice(0, 100))
    }
    const web = await startWeb({ [at]: [says.nothing, stuck, rest(csv, { etag: '"1"' })] })
    const shop = await webShop(web)
    await expect(shop.run({ silenceMs: 300 })).resolves.toBe('published')
    await expect(shop.rows()).resolves.toEqual(rowsOf('x'))
    expect(web.asked).toEqual([at, at, `${at} range: bytes=100- if-range: "1"`])
  })

  test('that only trickles is given up, so that a job comes to its end', async () => {
    const shop = await webShop(await startWeb({ [at]: slow(csv, 1, 20) }))
    const troubles = Array.from({ length: 5 }, () => 'the server sends less than 1000 bytes a second')
    await expect(shop.run({ silenceMs: 100 })).resolves.toBe(
      `failed: http://web/base/d/t.csv could not be fetched in 5 tries: ${troubles.join('; ')}`,
    )
  })

  test('that breaks off again and again is asked on as long as it brings more', async () => {
    const long = Array.from({ length: 11 }, (_, n) => `${'x'.repeat(1_000_000)},${n}\n`).join('')
    const breaking: Act = (request, response) => {
      const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0)
      return cut(`a,b\n${long}`, from + 1_300_000, one)(request, response)
    }
    const web = await startWeb({ [at]: breaking })
    const shop = await webShop(web)
    await expect(shop.run()).resolves.toBe('published')
    await expect(shop.rows()).resolves.toHaveLength(11)
    expect(web.asked.length).toBeGreaterThan(6)
  })
})
