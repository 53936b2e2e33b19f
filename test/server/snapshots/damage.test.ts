import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { layout } from '../../../core/warehouse/layout.ts'
import { publishedOf } from '../../../core/warehouse/publish.ts'
import { recordVerified, versionsIn } from '../../../core/warehouse/state-files.ts'
import { randomFrom } from '../../evaluator/random-queries.ts'
import { isQuick, runsOf, seed, testAll } from '../../support/runs.ts'
import { rawGet, serve, type Service, type ServiceOptions } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'

/** Damages of served files never produce a wrong row, and the fault is reported. */

const damages = runsOf('DAMAGES')
const unreadDamages = runsOf('UNREAD_DAMAGES')
const readers = 20
/** Two seconds are promised; a machine that does much else may take longer: `TOLD_MS=2000` holds to it. */
const toldMs = Number(process.env['TOLD_MS'] ?? 20_000)
const random = randomFrom(seed)
const upTo = (most: number): number => Math.floor(random() * most)
const pick = <T>(items: readonly [T, ...T[]] | readonly T[]): T => items[upTo(items.length)] as T

const base = '/api/v1/dataset/d/t'
const targets = [
  ...[1, 2, 3, 4, 5, 6].map((page) => `${base}/data/?page_size=700&page=${page}`),
  ...[1, 3, 5].map((page) => `${base}/data/?page_size=700&page=${page}&format=arrow`),
  `${base}/data/?state=SP&page_size=500`,
  `${base}/data/?state__in=RJ,MG&page_size=50&page=3&fields=n`,
  `${base}/data/?code=c42`,
  `${base}/data/?code__in=c1,c500,c999`,
  `${base}/data/?n__range=1000,1100&format=csv`,
  `${base}/data/?search=paulo&page_size=20`,
  `${base}/data/?ordering=-name,code&page_size=30`,
  `${base}/data/?state=BA&name__contains=7&ordering=-name`,
  `${base}/data/?name__startswith=S%C3%A3o%20Paulo%2012`,
  `${base}/data/?state=BA&ordering=code&page_size=30&format=arrow`,
  `${base}/export/?state__ne=BA&format=csv`,
  `${base}/export/?n__gte=7&format=arrow`,
]

let shop: Workshop
let pristine: string
let home: string
const due = new Map<string, Buffer>()

const uncached: ServiceOptions = { cachedBytesMax: 0, ownDatabases: true }

beforeAll(async () => {
  const catalog = catalogAround([
    {
      name: 't',
      order: ['n asc'],
      filters: ['n', 'state', 'name', 'code'],
      search: ['name', 'code'],
      orders: [['-name', 'code'], ['code']],
      fields: ['n:integer', 'state:string', 'name:string', 'code:string', 'x:float'].map(fieldOf),
    },
  ])
  const states = ['SP', 'RJ', 'MG', 'BA', '']
  const lines = Array.from(
    { length: 4000 },
    (_, n) => `${n},${states[(n * 7) % 5] ?? ''},São Paulo ${(n * 31) % 501},c${(n * 7919) % 1000},${n / 7}`,
  )
  shop = await workshop(catalog, { 'd/t.csv': `n,state,name,code,x\n${lines.join('\n')}\n` })
  const [outcome] = await shop.ingest({ partRows: 1024, codedDistinctMax: 600 })
  if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
  home = path.join(shop.warehouse, layout.snapshot({ dataset: 'd', name: 't' }, outcome.manifest.snapshot))
  pristine = await mkdtemp(path.join(path.dirname(shop.warehouse), 'pristine-'))
  await cp(home, pristine, { recursive: true })
  const service = await serve(shop, uncached)
  for (const target of targets) due.set(target, (await rawGet(service.app, target)).body)
  const files = (await readdir(home)).filter((name) => /parquet|index|bin|csv\.gz/.test(name))
  for (const file of files.filter((name) => !/index|bin/.test(name))) {
    const address = `/files/d/t/${outcome.manifest.snapshot}/${file}`
    targets.push(address)
    due.set(address, (await rawGet(service.app, address)).body)
  }
  await service.close()
}, 60_000)

/** Kinds of damage to the bytes of a file. */
const kinds: Readonly<Record<string, (file: string) => Promise<void>>> = {
  flip: async (file) => {
    const bytes = await readFile(file)
    const at = upTo(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << upTo(8))
    await writeFile(file, bytes)
  },
  truncate: async (file) => truncate(file, upTo((await readFile(file)).length)),
  zeros: async (file) => {
    const bytes = await readFile(file)
    bytes.fill(0, upTo(bytes.length))
    await writeFile(file, bytes)
  },
  swap: async (file) => {
    const others = (await readdir(home)).filter((name) => path.extname(name) === path.extname(file))
    await cp(path.join(pristine, pick(others)), file, { force: true })
  },
  removal: (file) => rm(file),
  // A concurrent reader may meet the file while it is rewritten.
  rewriting: async (file) => {
    const bytes = await readFile(file)
    for (let time = 0; time < 50; time += 1) await writeFile(file, bytes)
  },
}

/** Records all files as verified, even damaged ones: silent disk errors change no metadata. */
async function noteWhole(): Promise<void> {
  const table = { dataset: 'd', name: 't' }
  const manifest = await publishedOf(shop.store, table)
  if (manifest === null) throw new Error('nothing is published')
  await recordVerified(shop.store, table, manifest.snapshot, await versionsIn(shop.store, table, manifest))
}

/** @param tell that a damage was met */
async function read(
  service: Service,
  isOver: () => boolean,
  wrong: string[],
  tell: () => void,
): Promise<void> {
  while (!isOver()) {
    const target = pick(targets)
    // A transfer that breaks off is no answer.
    const answer = await rawGet(service.app, target).catch(() => null)
    if (answer?.body.includes('damaged-files') === true) tell()
    if (answer?.status === 200 && due.get(target)?.equals(answer.body) !== true) wrong.push(target)
    else if (answer !== null && ![200, 410, 503].includes(answer.status))
      wrong.push(`${answer.status} ${target}`)
  }
}

testAll(
  'no wrong row is sent, and damage is reported within 2 s of the first read',
  async () => {
    const faults: string[] = []
    for (let left = damages; left > 0; left -= 1) {
      await rm(home, { recursive: true })
      await cp(pristine, home, { recursive: true })
      const service = await serve(shop, { ...uncached, ...(left % 2 === 0 && { selectionBytesMax: 0 }) })
      const names = (await readdir(home)).filter((name) => /parquet|index|bin|csv\.gz/.test(name))
      const [name, kind] = [pick(names), pick(Object.keys(kinds))]
      const file = path.join(home, name)
      const before = await readFile(file)
      const wrong: string[] = []
      let isOver = false
      const met: number[] = []
      const tell = (): void => void met.push(performance.now())
      const walks = Array.from({ length: readers }, () => read(service, () => isOver, wrong, tell))
      // In half of the cases, only reading shows the damage.
      const isFollowed = left % 4 < 2
      if (isFollowed) service.snapshots.follow()
      await setTimeout(upTo(150))
      await kinds[kind]?.(file)
      const isDamaged = !(await readFile(file).catch(() => Buffer.alloc(0))).equals(before)
      if (isDamaged && isFollowed) tell()
      const isReported = (): boolean => service.snapshots.statuses.some(({ fault }) => fault !== null)
      const began = performance.now()
      while (!isReported() && performance.now() - began < (isDamaged ? 1000 : 0)) await setTimeout(20)
      const [first = -Infinity] = met
      while (!isReported() && performance.now() - first < toldMs) await setTimeout(20)
      if (isDamaged && met.length > 0 && !isReported()) faults.push(`${kind} of ${name} was not reported`)
      await setTimeout(100)
      isOver = true
      await Promise.all(walks)
      faults.push(...wrong.map((target) => `${kind} of ${name}: ${target}`))
      await service.close()
      if (faults.length > 5) break
    }
    expect({ seed, faults: faults.slice(0, 5) }).toEqual({ seed, faults: [] })
  },
  3_600_000,
)

test('no wrong row is sent from a damaged dictionary or binary file', async () => {
  const faults: string[] = []
  for (let left = unreadDamages; left > 0 && faults.length < 5; left -= 1) {
    await rm(home, { recursive: true })
    await cp(pristine, home, { recursive: true })
    const names = (await readdir(home)).filter((name) => /dictionary|\.bin$/.test(name))
    const name = pick(names)
    await kinds['flip']?.(path.join(home, name))
    await noteWhole()
    const service = await serve(shop, { ...uncached, ...(left % 2 === 0 && { selectionBytesMax: 0 }) })
    // It was not looked for at the start.
    const [atStart] = service.snapshots.statuses
    if (atStart?.fault !== null) faults.push(`${name}: ${atStart?.fault}`)
    const wrong: string[] = []
    let refused = 0
    for (const target of targets.toSorted(() => random() - 0.5)) {
      const answer = await rawGet(service.app, target).catch(() => null)
      const isDue = answer?.status === 200 && due.get(target)?.equals(answer.body) === true
      if (!isDue) refused += 1
      if (answer !== null && !isDue && ![410, 503].includes(answer.status))
        wrong.push(`${answer.status} ${target}`)
    }
    faults.push(...wrong.map((target) => `${name}: ${target}`))
    const isReported = (): boolean => service.snapshots.statuses.some(({ fault }) => fault !== null)
    const ended = performance.now()
    // A file that was sent is read again first.
    const untilMs = ended + (refused > 0 ? toldMs : 0)
    while (!isReported() && performance.now() < untilMs) await setTimeout(20)
    if (isReported() !== refused > 0)
      faults.push(`${name}: ${refused} refused, and reported: ${isReported()}`)
    await service.close()
  }
  expect({ seed, faults: faults.slice(0, 5) }).toEqual({ seed, faults: [] })
}, 3_600_000)

test('no wrong row is sent from a file with the bytes of another one', async () => {
  const names = (await readdir(pristine)).filter((name) => name.endsWith('.bin'))
  const sizes = new Map<string, number>()
  for (const name of names) sizes.set(name, (await stat(path.join(pristine, name))).size)
  const pairs = names.flatMap((name) => names.flatMap((second) => (second === name ? [] : [[name, second]])))
  const isAlike = ([a = '', b = '']: readonly string[]): boolean => sizes.get(a) === sizes.get(b)
  // The size of a file shows the others when it is opened.
  const alike = pairs.filter(isAlike)
  expect(alike).not.toEqual([])
  for (const [name = '', second = ''] of isQuick ? alike : pairs) {
    await rm(home, { recursive: true })
    await cp(pristine, home, { recursive: true })
    await cp(path.join(pristine, second), path.join(home, name))
    await noteWhole()
    const service = await serve(shop, { ...uncached, selectionBytesMax: 0 })
    const wrong: string[] = []
    for (const target of targets.filter((address) => address.startsWith(base))) {
      const { status, body } = await rawGet(service.app, target)
      const isDue = status === 200 && due.get(target)?.equals(body) === true
      if (!isDue && ![410, 503].includes(status)) wrong.push(`${status} ${target}`)
    }
    const isRefused = service.snapshots.statuses.some(({ fault }) => fault !== null)
    await service.close()
    expect({ name, second, wrong, isRefused }).toEqual({
      name,
      second,
      wrong: [],
      isRefused: true,
    })
  }
}, 60_000)

testAll(
  'a check of all files finds damage in files of every other kind',
  async () => {
    const names = (await readdir(pristine)).filter((name) => /parquet|words|values|csv\.gz|report/.test(name))
    expect(names.length).toBeGreaterThan(6)
    for (const name of names) {
      await rm(home, { recursive: true })
      await cp(pristine, home, { recursive: true })
      await kinds['flip']?.(path.join(home, name))
      await noteWhole()
      const service = await serve(shop, uncached)
      const faults = () => service.snapshots.statuses.map(({ fault }) => fault)
      const before = faults()
      await service.scrub()
      const [after] = faults()
      await service.close()
      expect([name, before, after]).toEqual([name, [null], expect.stringContaining(name)])
    }
  },
  60_000,
)
