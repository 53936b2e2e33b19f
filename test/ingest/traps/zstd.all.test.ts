import zlib from 'node:zlib'
import { refused, rows, whatCame, type Came } from '../support/declared.ts'
import { describeWith } from '../../support/needs.ts'

/** Node has zstd since 22.15; before, files of it are refused. */
const { zstdCompressSync, constants } = zlib as unknown as {
  zstdCompressSync?: (bytes: Buffer, options?: object) => Buffer
  constants: Readonly<Record<string, number>>
}
const fields = ['a:string', 'b:integer']
const came = (content: Uint8Array): Promise<Came> => whatCame({ fields }, { 'd/t.csv.zst': content })

describeWith(zstdCompressSync === undefined, 'a Node without zstd, before 22.15')(
  'a zstd file on a Node without zstd',
  () => {
    test('is refused with a remedy', async () => {
      await expect(came(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]))).resolves.toEqual(
        refused(
          `t.csv.zst needs Node 22.15 or newer, and this is ${process.version}: compress it with gzip instead`,
        ),
      )
    })
  },
)

describeWith(zstdCompressSync !== undefined, 'zstd of Node 22.15 or newer')('a zstd file', () => {
  const lines = Array.from({ length: 3000 }, (_, n) => `x${(n * 7919) % 1000},${n}\n`)
  const text = Buffer.from(`a,b\n${lines.join('')}`)
  const checked = { params: { [constants['ZSTD_c_checksumFlag'] ?? 201]: 1 } }
  const whole = zstdCompressSync?.(text, checked) ?? Buffer.alloc(0)
  const cutOff = refused('t.csv.zst is damaged or cut off: fetch it again')
  const refusal = refused('t.csv.zst has data after its first zstd frame: compress it again as one')

  test('that is intact is loaded', async () => {
    const expected = rows(
      ...lines.map((line): [string, number] => [line.split(',')[0] ?? '', Number(line.split(',')[1])]),
    )
    await expect(came(whole)).resolves.toEqual(expected)
  })

  test.each<[title: string, content: Uint8Array, expected: Came]>([
    ['cut in half', whole.subarray(0, whole.length / 2), cutOff],
    ['without its last byte', whole.subarray(0, -1), cutOff],
    ['with something after it', Buffer.concat([whole, Buffer.from('x')]), refusal],
    ['of two frames', Buffer.concat([whole, whole]), refusal],
    [
      'without a check sum',
      zstdCompressSync?.(text) ?? whole,
      refused('t.csv.zst has no checksum, so damage could not be detected: compress it with zstd --check'),
    ],
  ])('%s is refused', async (_what, content, expected) => {
    await expect(came(content)).resolves.toEqual(expected)
  })

  test('with a flipped bit is refused, whichever bit it is', async () => {
    for (let at = 4; at < whole.length; at += Math.ceil(whole.length / 60)) {
      const flipped = whole.map((byte, index) => (index === at ? byte ^ 4 : byte))
      expect(Object.keys(await came(flipped))).toEqual(['refused'])
    }
  }, 60_000)
})
