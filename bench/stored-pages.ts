import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import {
  asStored,
  fetchAnswers,
  leastOf,
  line,
  noCaches,
  pageOf,
  requestsOf,
  type Bench,
  type Line,
} from './cases.ts'
import { measure, startReference, startService } from './servers.ts'

export async function storedPages(bench: Bench): Promise<Line[]> {
  const gzip = { 'Accept-Encoding': 'gzip' }
  const primeStep = 7919
  const scatteredPage = (size: number) => {
    const pageCount = Math.max(1, Math.floor((100 * bench.pages) / size) - 1)
    return (n: number) => pageOf('large', 1 + ((n * primeStep) % pageCount), size)
  }
  const cases = [
    { title: '100 rows', target: scatteredPage(100), headers: {}, requests: 2000, ratioMax: 3 },
    { title: '100 rows in gzip', target: scatteredPage(100), headers: gzip, requests: 2000, ratioMax: 4.5 },
    { title: '1,000 rows', target: scatteredPage(1000), headers: {}, requests: 800, ratioMax: 4.5 },
    { title: '1,000 rows in gzip', target: scatteredPage(1000), headers: gzip, requests: 800, ratioMax: 4 },
    {
      title: 'one row and the count of a state',
      target: (n: number) => `${pageOf('large', 1 + (n % 50), 1)}&state=SP`,
      headers: {},
      requests: 2000,
      ratioMax: 1.8,
    },
  ]
  const service = await startService({ ...bench.environment, ...noCaches })
  const lines: Line[] = []
  try {
    for (const { title, target, headers, requests, ratioMax } of cases) {
      const targets = Array.from({ length: 200 }, (_, n) => target(n))
      const file = path.join(bench.folder, 'stored-pages.json')
      await writeFile(file, JSON.stringify((await fetchAnswers(service, targets, headers)).map(asStored)))
      const express = await startReference('express', { ANSWERS: file, HEADERS: 'yes' })
      const [ours, expressTimes]: [number[], number[]] = [[], []]
      const load = { connections: 4, headers, target: (n: number) => targets[n % targets.length] ?? '' }
      // The first round only warms up.
      for (let round = 0; round <= 2 * bench.rounds; round += 1) {
        const [measured, reference] = [
          await measure(service, { ...load, requests: requestsOf(bench, requests) }),
          await measure(express, { ...load, requests: requestsOf(bench, requests) }),
        ]
        if (round === 0) continue
        ours.push(measured.cpuMs)
        expressTimes.push(reference.cpuMs)
      }
      await express.stop()
      const name = `${title}, in no cache, CPU, to bare Express with the same bytes and headers`
      lines.push(line(name, 'ms', leastOf(ours), leastOf(expressTimes), ['<=', ratioMax]))
    }
  } finally {
    await service.stop()
  }
  return lines
}
