import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { catalogVersion } from '../../../core/catalog/catalog-files.ts'
import { loadCatalog } from '../../../core/catalog/load.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { temporaryFolder, workshop } from '../../support/workshop.ts'

/** The look of a portal: its logo, and its text about itself. */

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8"/></svg>'
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

interface Portal {
  readonly file: string
  readonly logo: string
}

async function portalWith(
  keys: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<Portal> {
  const folder = await temporaryFolder()
  const file = path.join(folder, 'catalog.yaml')
  const families = 'families: { v1: { prefix: /api, scheme: http, trailing_slash: true } }'
  await writeFile(
    file,
    `title: City\nlimits: { rows: [], catalog: [] }\n${families}\n${keys}\ndatasets: []\n`,
  )
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content)
  return { file, logo: path.join(folder, Object.keys(files)[0] ?? '') }
}

const served = async ({ file }: Portal): Promise<Service> => serve(await workshop(await loadCatalog(file)))

async function page({ app }: Service, target: string): Promise<string> {
  return (await rawGet(app, target, { Accept: 'text/html' })).body.toString()
}

test.each([
  ['logo.svg', svg, 'image/svg+xml'],
  ['logo.png', png, 'image/png'],
])('%s is shown before the title and in the tab, byte for byte', async (name, content, type) => {
  const service = await served(await portalWith(`logo: ${name}`, { [name]: content }))
  const home = await page(service, '/en/')
  const [, source = ''] =
    /<a class="brand" href="\/en\/"\s*><img src="([^"]*)" alt="" \/>City<\/a/.exec(home) ?? []
  const { status, headers, body } = await rawGet(service.app, source)
  expect([status, headers['content-type'], body.equals(Buffer.from(content))]).toEqual([200, type, true])
  // Scripts of an SVG file do not run, also if it is opened by itself.
  expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
  expect(home).toContain(`<link rel="icon" type="${type}" href="${source}" />`)
})

test('a changed logo has a new address and changes the version of the catalog, so the server reloads it', async () => {
  const portal = await portalWith('logo: logo.svg', { 'logo.svg': svg })
  const addressOf = async (): Promise<string> =>
    /<img src="([^"]*)"/.exec(await page(await served(portal), '/en/'))?.[1] ?? ''
  const before = [await catalogVersion(portal.file), (await loadCatalog(portal.file)).hash, await addressOf()]
  await writeFile(portal.logo, svg.replace('rect', 'rect fill="red"'))
  const after = [await catalogVersion(portal.file), (await loadCatalog(portal.file)).hash, await addressOf()]
  for (const [index, value] of after.entries()) expect(value).not.toBe(before[index])
})

test.each<[fault: string, keys: string, files: Record<string, Uint8Array>, message: string]>([
  [
    'a missing file',
    'logo: logo.svg',
    {},
    'the logo FOLDER/logo.svg cannot be read; correct "logo" in FOLDER/catalog.yaml, or add the file',
  ],
  [
    'a large file',
    'logo: logo.png',
    { 'logo.png': Buffer.alloc(200_001) },
    'the logo FOLDER/logo.png has 200001 bytes; make it smaller than 200000',
  ],
  [
    'a path outside',
    'logo: ../logo.svg',
    {},
    'catalog.yaml:4:7: "logo" is "../logo.svg", and must be a path below the folder of the catalog, such as logo.svg',
  ],
  [
    'another format',
    'logo: logo.jpg',
    {},
    'catalog.yaml:4:7: "logo" is "logo.jpg", and must be an SVG or PNG file, such as logo.svg',
  ],
])('as the logo, %s is an error that says what to do', async (_fault, keys, files, message) => {
  const { file } = await portalWith(keys, files)
  const error: unknown = await loadCatalog(file).catch((reason: unknown) => reason)
  expect(error instanceof Error && error.message.replaceAll(path.dirname(file), 'FOLDER')).toContain(message)
})

test('the text about the service is Markdown, in which HTML and scripts are only text', async () => {
  const aboutLines = [
    'about:',
    '  pt: "Uma **cidade**"',
    '  en: "A *city*, [site](https://example.org/?a=1&b=2), <script>alert(1)</script>, [x](javascript:alert(1))"',
  ].join('\n')
  const service = await served(await portalWith(aboutLines, {}))
  expect(await page(service, '/pt/about/')).toContain('<p>Uma <strong>cidade</strong></p>')
  expect(await page(service, '/en/about/')).toContain(
    '<p>A <em>city</em>, <a href="https://example.org/?a=1&amp;b=2">site</a>, &lt;script&gt;alert(1)&lt;/script&gt;, [x](javascript:alert(1))</p>',
  )
})
