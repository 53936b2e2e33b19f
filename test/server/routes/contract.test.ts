import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import request from 'supertest'
import { loadCatalog } from '../../../core/catalog/load.ts'
import { contractCases, contractFolder } from '../../contract/contract-cases.ts'
import { serve, type Service } from '../../support/service.ts'
import { workshop } from '../../support/workshop.ts'

const cases = await contractCases()

/** Headers that a case states; the others are asserted once, in http.test.ts. */
const stated = [
  'allow',
  'vary',
  'content-type',
  'location',
  'retry-after',
  'acervo-snapshot',
  'acervo-count',
  'cache-control',
]

let service: Service
beforeAll(async () => {
  const catalog = await loadCatalog('catalog.yaml')
  const files: Record<string, string> = {}
  for (const name of await readdir(path.join(contractFolder, 'sources'), { recursive: true })) {
    if (name.endsWith('.csv'))
      files[name] = await readFile(path.join(contractFolder, 'sources', name), 'utf8')
  }
  const shop = await workshop(catalog, files)
  await shop.ingest()
  service = await serve(shop)
})

test.each([...cases])(
  '%s is answered as the contract says',
  async (_name, { file, asked, method, target, headers, expected }) => {
    const agent = request(service.app)
    const response = await agent[method.toLowerCase() as 'get'](target)
      .set({ 'Accept-Encoding': 'identity', ...headers })
      .buffer(true)
      .parse((res, done) => {
        let text = ''
        res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        res.on('end', () => done(null, text))
      })
    const answered = [
      String(response.status),
      ...stated.flatMap((header) => {
        const value: unknown = response.headers[header]
        return typeof value === 'string' ? [`${header}: ${value}`] : []
      }),
      '',
      readable(typeof response.body === 'string' ? response.body : ''),
    ].join('\n')
    const steady = answered
      .replaceAll(/urn:uuid:[0-9a-f-]{36}/g, 'urn:uuid:~')
      .replaceAll(/20260102T030405Z-[0-9a-f]{12}/g, '20260102T030405Z-~')
    if (process.env['UPDATE_CONTRACT'] === 'yes') {
      const { writeFile } = await import('node:fs/promises')
      await writeFile(file, `${asked}\n---\n${steady.trim()}\n`)
    }
    // The failure shows the command that accepts a change.
    const ifIntended = 'UPDATE_CONTRACT=yes npm run jest -- test/server/routes/contract'
    expect({ answer: steady.trim(), ifIntended }).toEqual({ answer: expected, ifIntended })
  },
)

/** JSON over lines with the digits and the order of keys of the wire; a wire with white space would stay as it is. */
function readable(body: string): string {
  if (body === '' || /[[{,:]\s/.test(body.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'))) return body
  const digits: string[] = []
  const marked = body.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
    if (token.startsWith('"')) return token
    digits.push(token)
    return `"#${digits.length - 1}#"`
  })
  const value: unknown = JSON.parse(marked)
  return JSON.stringify(value, null, 2).replaceAll(
    /"#(\d+)#"/g,
    (_, index: string) => digits[Number(index)] ?? '',
  )
}
