import { StartError, fatalMessage } from '../core/errors.ts'

/**
 * `npm run answers -- OLD NEW [COUNT] [SEED]`: sends the same requests to two running servers, such as those of two
 * commits, and prints every answer that differs. Both need the same catalog, sources and PUBLIC_URL, and no limits.
 */

interface FieldAbout {
  readonly name: string
  readonly operators: readonly string[]
  readonly ordering: boolean
}

interface TableAbout {
  readonly path: string
  readonly fields: readonly FieldAbout[]
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

interface Question {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

interface Answer {
  readonly status: number
  readonly headers: string
  readonly body: string
}

const ignoredHeaders = new Set(
  'date etag last-modified x-request-id server-timing connection keep-alive content-length age acervo-snapshot'.split(
    ' ',
  ),
)
const formats = ['json', 'csv', 'csv-excel', 'ndjson', 'arrow']
const accepts = ['application/json', 'text/html', 'text/csv', '*/*']
const timeoutMs = 60_000

const normalized = (text: string): string =>
  text
    .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{12}/g, 'SNAPSHOT')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?/g, 'TIME')
    .replaceAll(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, 'TIME')
    .replaceAll(/\b([0-9a-f]{128}|[0-9a-f]{64})\b/g, 'HASH')
    .replaceAll(/"\d{8}\.\d+\.0"/g, 'VERSION')
    .replaceAll(/; r=\d+; t=\d+/g, '')
    .replaceAll(/urn:uuid:[0-9a-f-]{36}/g, 'UUID')

/** Paths whose answers depend on the run, such as counts, sizes of reports and ids of snapshots. */
const ignoredPaths = /^\/(limits|health|metrics|feeds\/|files\/[^/]*(\/[^/]*)?\/?$)|\/\d{8}T\d{6}Z-|\.duckdb/

async function answerOf(base: string, { method, path, headers }: Question): Promise<Answer> {
  const response = await fetch(new URL(path, base), {
    method,
    headers: { 'accept-encoding': 'identity', ...headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const shownHeaders = [...response.headers].filter(([name]) => !ignoredHeaders.has(name))
  const body = Buffer.from(await response.arrayBuffer()).toString('latin1')
  return {
    status: response.status,
    headers: normalized(shownHeaders.map(([name, value]) => `${name}: ${value}`).join('\n')),
    body: normalized(body),
  }
}

async function json(base: string, path: string): Promise<unknown> {
  const response = await fetch(new URL(path, base), { headers: { accept: 'application/json' } })
  if (!response.ok) throw new StartError(`${base}${path} answers ${response.status}`)
  return response.json()
}

type OpenApi = Readonly<{
  paths: Record<string, { get?: { parameters?: readonly Parameter[] } }>
  components: { parameters: Record<string, Parameter> }
}>
type Parameter = Readonly<{ $ref?: string; name: string; in: string; required?: boolean; example?: string }>

function pathsOf({ paths, components }: OpenApi): string[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (get === undefined) return []
    const requiredParameters = (get.parameters ?? [])
      .map((parameter) =>
        parameter.$ref === undefined
          ? parameter
          : components.parameters[parameter.$ref.split('/').at(-1) ?? ''],
      )
      .filter((parameter) => parameter?.required === true)
    const filledPath = requiredParameters.reduce(
      (text, parameter) =>
        text.replace(`{${parameter?.name ?? ''}}`, encodeURIComponent(parameter?.example ?? '')),
      path,
    )
    const query = requiredParameters.flatMap((parameter) =>
      parameter?.in === 'query' ? [[parameter.name, parameter.example ?? '']] : [],
    )
    return [query.length === 0 ? filledPath : `${filledPath}?${new URLSearchParams(query).toString()}`]
  })
}

async function tablesOf(base: string): Promise<TableAbout[]> {
  const tables: TableAbout[] = []
  const { results } = (await json(base, '/api/v1/datasets/')) as { results: { slug: string }[] }
  for (const { slug } of results) {
    const descriptor = (await json(base, `/api/v1/dataset/${slug}/`)) as { tables: { name: string }[] }
    for (const { name } of descriptor.tables) {
      const path = `/api/v1/dataset/${slug}/${name}/`
      const { fields } = (await json(base, path)) as { fields: FieldAbout[] }
      const page = await json(base, `${path}data/?page_size=100`).catch(() => null)
      const { results: rows } = (page ?? { results: [] }) as { results: Record<string, unknown>[] }
      tables.push({ path, fields, rows })
    }
  }
  return tables
}

function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

class Questions {
  readonly #random: () => number
  readonly #tables: readonly TableAbout[]
  readonly #paths: readonly string[]

  constructor(tables: readonly TableAbout[], paths: readonly string[], seed: number) {
    this.#random = randomFrom(seed)
    this.#tables = tables
    this.#paths = paths
  }

  next(): Question {
    const headers = { accept: this.#pick(accepts) }
    const method = this.#random() < 0.05 ? this.#pick(['HEAD', 'POST'] as const) : 'GET'
    if (this.#random() < 0.25) return { method, path: this.#pick(this.#paths), headers }
    const table = this.#pick(this.#tables)
    const query = this.#query(table)
    const end = this.#random() < 0.15 ? 'export/' : 'data/'
    return { method, path: `${table.path}${end}?${query.toString()}`, headers }
  }

  #query({ fields, rows }: TableAbout): URLSearchParams {
    const query = new URLSearchParams()
    for (let conditionsLeft = Math.floor(this.#random() * 3); conditionsLeft > 0; conditionsLeft -= 1) {
      const { name, operators } = this.#pick(fields)
      const operator = operators.length === 0 ? 'eq' : this.#pick(operators)
      const value = operator === 'isnull' ? this.#pick(['true', 'false', 'x']) : this.#value(rows, name)
      const values = ['in', 'range'].includes(operator) ? `${value},${this.#value(rows, name)}` : value
      query.set(operator === 'eq' ? name : `${name}__${operator}`, values)
    }
    if (this.#random() < 0.4) {
      const { name } = this.#pick(fields)
      query.set('ordering', `${this.#random() < 0.5 ? '-' : ''}${name}`)
    }
    if (this.#random() < 0.1) query.set('search', this.#value(rows, this.#pick(fields).name).slice(0, 4))
    if (this.#random() < 0.3) query.set('format', this.#pick(formats))
    if (this.#random() < 0.3) query.set('page_size', this.#pick(['1', '7', '100', '2000', '0', '-1']))
    if (this.#random() < 0.2) query.set('page', this.#pick(['1', '2', '3', '50', 'last']))
    if (this.#random() < 0.2) query.set('fields', `${this.#pick(fields).name},${this.#pick(fields).name}`)
    if (this.#random() < 0.03) query.set(this.#pick(['unknown', 'state__is', 'offset']), '1')
    return query
  }

  #value(rows: TableAbout['rows'], name: string): string {
    const value = rows.length === 0 ? null : this.#pick(rows)[name]
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? '')
    return this.#random() < 0.05 ? `${text}x` : text
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T
  }
}

function differenceOf(old: Answer, newer: Answer): string | null {
  if (old.status !== newer.status) return `status ${old.status} -> ${newer.status}`
  if (old.headers !== newer.headers) return `headers\n${firstDifference(old.headers, newer.headers)}`
  return old.body === newer.body ? null : `body\n${firstDifference(old.body, newer.body)}`
}

function firstDifference(old: string, newer: string): string {
  let index = 0
  while (index < old.length && old[index] === newer[index]) index += 1
  const excerpt = (text: string): string => JSON.stringify(text.slice(Math.max(0, index - 60), index + 100))
  return `  ${excerpt(old)}\n  ${excerpt(newer)}`
}

async function main(): Promise<number> {
  const [old, newer, count = '2000', seed = '1'] = process.argv.slice(2)
  if (old === undefined || newer === undefined) throw new StartError('name the addresses of two servers')
  const document = (await json(old, '/api/v1/openapi.json')) as OpenApi
  const paths = pathsOf(document).filter((path) => !ignoredPaths.test(path))
  const questions = new Questions(await tablesOf(old), paths, Number(seed))
  let different = 0
  for (let requests = 0; requests < Number(count); requests += 1) {
    const question =
      requests < paths.length ? { ...questions.next(), path: paths[requests] ?? '' } : questions.next()
    const [oldAnswer, newerAnswer] = await Promise.all([answerOf(old, question), answerOf(newer, question)])
    const difference = differenceOf(oldAnswer, newerAnswer)
    if (difference === null) continue
    different += 1
    console.log(`${question.method} ${question.path} (${question.headers['accept'] ?? ''}): ${difference}`)
  }
  console.log(`${count} requests, ${different} different answers`)
  return different === 0 ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(fatalMessage(error))
  process.exitCode = 1
}
