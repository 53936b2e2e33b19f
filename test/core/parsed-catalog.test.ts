import { createHash } from 'node:crypto'
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { loadCatalog } from '../../core/catalog/load.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { ParsedCatalog } from '../../core/warehouse/parsed-catalog.ts'
import { FolderStore } from '../../core/warehouse/stores/folder.ts'
import { oneTable } from '../support/one-table.ts'
import { run, startServer } from '../support/programs.ts'
import { catalogText, fieldOf, temporaryFolder } from '../support/workshop.ts'
import { testAll } from '../support/runs.ts'

class Told extends ParsedCatalog {
  isParsed = false

  override parsed(...args: Parameters<ParsedCatalog['parsed']>): void {
    this.isParsed = true
    super.parsed(...args)
  }
}

/** A copy of the shipped catalog, and a warehouse that may know it. */
async function somewhere() {
  const folder = await temporaryFolder()
  const file = path.join(folder, 'catalog.yaml')
  await cp('catalog', path.join(folder, 'catalog'), { recursive: true })
  await copyFile('catalog.yaml', file)
  const store = new FolderStore(path.join(folder, 'warehouse'))
  /** Loads it as an ingest does; tells whether its text had to be parsed. */
  const load = async () => {
    const texts = new Told(store)
    const catalog = await loadCatalog(file, texts)
    await texts.keep()
    return { catalog, isParsed: texts.isParsed }
  }
  return { file, kept: path.join(store.localFolder, layout.parsedCatalog), load }
}

describe('a catalog that was parsed before', () => {
  test('is loaded without being parsed again, until its text changes', async () => {
    const { file, load } = await somewhere()
    const first = await load()
    expect(first).toEqual({ catalog: await loadCatalog(file), isParsed: true })
    expect(await load()).toEqual({ ...first, isParsed: false })
    await writeFile(file, (await readFile(file, 'utf8')).replace(/^title: .*$/m, 'title: Another'))
    const reloaded = await load()
    expect([reloaded.isParsed, reloaded.catalog.title]).toEqual([true, 'Another'])
    expect(await load()).toEqual({ ...reloaded, isParsed: false })
  })

  testAll('is parsed again if the cache is damaged', async () => {
    const { kept, load } = await somewhere()
    const { catalog } = await load()
    const whole = await readFile(kept)
    const flipped = (at: number): Buffer =>
      Buffer.from(whole.map((byte, index) => (index === at ? byte ^ 1 : byte)))
    const damages = [
      Buffer.alloc(0),
      whole.subarray(0, 60),
      whole.subarray(0, -1),
      Buffer.concat([whole, Buffer.from(' ')]),
      ...Array.from({ length: 10 }, (_, index) => flipped(Math.floor((index * (whole.length - 1)) / 9))),
    ]
    for (const damage of damages) {
      await writeFile(kept, damage)
      expect(await load()).toEqual({ catalog, isParsed: true })
    }
  })

  test('is parsed each time if its values have no JSON form', async () => {
    const { file, kept, load } = await somewhere()
    const table = { name: 't', order: [], fields: [fieldOf('n:decimal:5:0')] }
    await writeFile(file, catalogText([table]).replace('"scale":0', '"scale":-0'))
    expect((await load()).isParsed).toBe(true)
    expect((await load()).isParsed).toBe(true)
    await expect(readFile(kept)).rejects.toThrow('ENOENT')
  })

  testAll(
    'is cached by an ingest and used by a server, but parsed again if the cached text has a fault',
    async () => {
      const { settings } = await oneTable('n\n1\n', ['n:integer'])
      const warehouse = settings['WAREHOUSE'] ?? ''
      const texts = new ParsedCatalog(new FolderStore(warehouse))
      await loadCatalog(settings['CATALOG'] ?? '', texts)
      await texts.keep()
      const kept = path.join(warehouse, layout.parsedCatalog)
      const text = await readFile(kept, 'utf8')
      // Nothing but this tells a parsed text from one that was known.
      const json = text.slice(text.indexOf('\n') + 1).replace(/"title":"[^"]*"/, '"title":"Known"')
      const head = text.slice(0, text.lastIndexOf(' ', text.indexOf('\n')))
      await writeFile(kept, `${head} ${createHash('sha256').update(json).digest('hex')}\n${json}`)
      const { port } = await startServer(settings)
      expect(await (await fetch(`http://127.0.0.1:${port}/en/`)).text()).toContain('<title>Known')

      const faulty = json.replace('"integer"', '"whole"')
      expect(faulty).not.toBe(json)
      await writeFile(kept, `${head} ${createHash('sha256').update(faulty).digest('hex')}\n${faulty}`)
      const { code } = await run('ingest', [], settings)
      expect(code).toBe(0)
      expect(await readFile(kept, 'utf8')).toBe(text)
    },
  )
})
