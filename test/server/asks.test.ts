import path from 'node:path'
import { expect, test } from '@jest/globals'
import { allTables, tableId } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { writeSamples } from '../../ingest/sample/write.ts'
import { readRows } from '../support/evaluator.ts'
import { compareOne, randomFrom, seed } from '../support/random-asks.ts'
import { serve } from '../support/service.ts'
import { workshop } from '../support/workshop.ts'

test('random asks over samples of every table answer what a second reading finds', async () => {
  const catalog = await loadCatalog('catalog.yaml')
  const shop = await workshop(catalog)
  const samples = writeSamples(shop.sources, allTables(catalog), 0.1)
  while ((await samples.next()).done !== true);
  // Parts and groups of a few rows, so that each ask goes over several.
  await shop.ingest({ partRows: 128, lookedUpDistinctLeast: 5 })
  const service = await serve(shop)
  const random = randomFrom(seed)
  const differences: string[] = []
  for (const table of allTables(catalog)) {
    const rows = await readRows(path.join(shop.sources, `${tableId(table)}.csv.gz`), table)
    for (let ask = 0; ask < 25; ask += 1) {
      const difference = await compareOne(service, table, rows, random)
      if (difference !== null) differences.push(difference)
    }
  }
  expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
}, 120_000)
