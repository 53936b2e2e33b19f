import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { manifestText, parseManifest } from '../core/warehouse/manifest.ts'
import { oneTable, rows } from './support/one-table.ts'
import { startServer } from './support/programs.ts'
import { testAll } from './support/runs.ts'

/** A warehouse that an earlier version wrote is served without the files that it lacks. */

testAll(
  'a table of an earlier version, without newer index files, gives the same answers and one warning in the log',
  async () => {
    const lines = Array.from({ length: 300 }, (_, n) => `${n},name ${n % 7}`)
    const table = await oneTable(`n,s\n${lines.join('\n')}\n`, ['n:integer', 's:string'], {
      table: { filters: ['n', 's'], orders: [['-s']] },
    })
    const targets = [
      '?page=2&page_size=100',
      '?s=name%203&ordering=-n',
      '?n__range=7,20',
      '?ordering=-s&page=3',
    ]
    const answersOf = async (): Promise<{ answers: unknown[]; log: string }> => {
      const server = await startServer(table.settings)
      const answers: unknown[] = []
      for (const target of targets) {
        const response = await fetch(`http://127.0.0.1:${server.port}${rows}${target}`)
        const { count, results } = (await response.json()) as { count: number; results: unknown }
        answers.push({ status: response.status, count, results })
      }
      process.kill(server.pid, 'SIGTERM')
      await server.ended
      return { answers, log: server.log() }
    }
    const before = await answersOf()
    const pointer = path.join(String(table.settings['WAREHOUSE']), 'd', 't', 'current.json')
    const manifest = parseManifest(await readFile(pointer, 'utf8'), pointer)
    const { row_stores: rowStores, codes, orders, ...older } = manifest
    expect([rowStores, codes, orders]).not.toContain(undefined)
    // Earlier versions had one row store, in another form.
    const [former] = rowStores ?? []
    await writeFile(pointer, manifestText({ ...older, row_store: former }))
    const after = await answersOf()
    expect(after.answers).toEqual(before.answers)
    const warning = /"tables":\["d\/t"\].*tables of an earlier version are slower/g
    expect([before, after].map(({ log }) => log.match(warning)?.length ?? 0)).toEqual([0, 1])
  },
  60_000,
)
