import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { rename, writeFile } from 'node:fs/promises'
import { readSettings, workerShare } from '../../core/settings/read.ts'
import { StartupGate } from '../../server/http/listen.ts'
import { openLog } from '../../server/base/log.ts'
import { openService } from '../../server/process/service.ts'

/**
 * A program of its own: reloads the catalog of its environment `RELOADS` times, requests pages between them,
 * and prints the bytes of the heap after the third and after the last reload as JSON.
 */

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const settings = readSettings(process.env)
const gate = new StartupGate()
const log = openLog('error', {})
const service = await openService(workerShare(settings), log, null, gate, () => 0)
await service.load()
const server = http.createServer(gate.answer).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const catalog = JSON.parse(process.env['CATALOG_TEXT'] ?? '') as { title: string }
const targets = [
  '/en/',
  '/api/v1/dataset/d/t/data/?page_size=500',
  '/api/v1/dataset/d/t/data/?s__contains=1&ordering=-n&page_size=500',
  '/api/v1/openapi.json',
]
const reloads = Number(process.env['RELOADS'])
const sizes: number[] = []
for (let reload = 1; reload <= reloads; reload += 1) {
  // By a rename: the server also looks for changes itself, and must not read half a file.
  await writeFile(`${settings.catalog}.next`, JSON.stringify({ ...catalog, title: `Catalog ${reload}` }))
  await rename(`${settings.catalog}.next`, settings.catalog)
  await service.reload()
  for (const target of [...targets, ...targets]) {
    const response = await fetch(`http://127.0.0.1:${port}${target}`)
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    if (target === '/en/' && !text.includes(`Catalog ${reload}`))
      throw new Error('the catalog was not reloaded')
  }
  if (reload !== 3 && reload !== reloads) continue
  // Finalizers run between two turns of the event loop.
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  sizes.push(process.memoryUsage().heapUsed)
}
console.log(JSON.stringify(sizes))
process.exit()
