import { titleOf } from '../documents/words/titles.ts'
import type { Json, TableDescription } from '../documents/description.ts'
import { framed, type Framed, type PageContext } from './frame.ts'
import { html, safeAddress, type Html } from './html.ts'
import { allTables, tableId } from '../../core/catalog/catalog.ts'
import { openApi, tableOpenApi, type OpenApiOptions } from '../documents/openapi/openapi.ts'
import type { Resource } from '../http/resource.ts'
import { trailTo } from './table/tabs.ts'
import { parseQuery } from '../query/parameters.ts'
import { describeTable } from '../routes/documents/service.ts'
import { requestedTable, webPage, webPageOf, pageAt, rowAddresses, type PageService } from './service.ts'

interface ReferenceView {
  readonly title: string
  readonly document: Json
  readonly address: string
  readonly tableLinks: readonly { readonly name: string; readonly address: string }[]
  readonly inLanguage: Framed['inLanguage']
  readonly trail: NonNullable<Framed['trail']>
}

type Named<T> = Readonly<Record<string, T>>
interface Parameter {
  readonly name: string
  readonly in: string
  readonly description?: string
  readonly schema?: Json
  readonly required?: boolean
}
interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Json[]
  readonly responses: Named<Json>
}

function referenceHtml(context: PageContext, view: ReferenceView): Html {
  const { words } = context
  const { title, document, address, tableLinks, inLanguage, trail } = view
  const paths = Object.entries(document['paths'] as Named<Named<Operation>>)
  const main = html`
    <h1>${title}</h1>
    <p class="lead">${words.referenceLead}</p>
    <p><a href="${address}">OpenAPI 3.1</a></p>
    ${
      tableLinks.length > 0 &&
      html`<section>
        <h2>${words.tables}</h2>
        <ul>
          ${tableLinks.map((link) => html`<li><a href="${link.address}">${link.name}</a></li>`)}
        </ul>
      </section>`
    }
    <section lang="en">
      <h2>${words.addresses}</h2>
      ${paths.map(([path, item]) => pathPart(context, document, path, item))}
    </section>
    ${schemasPart(context, document)}
  `
  return framed(context, { title, main, inLanguage, trail })
}

function pathPart({ words }: PageContext, document: Json, path: string, item: Named<Operation>): Html {
  const methods = ['get', 'post'].filter((method) => item[method] !== undefined)
  const operation = item['get'] ?? item['post']
  if (operation === undefined) return html``
  const pathParameters = ((item as Json)['parameters'] ?? []) as readonly Json[]
  const parameters = [...pathParameters, ...(operation.parameters ?? [])].map(
    (parameter) => resolved(document, parameter) as unknown as Parameter,
  )
  return html`<article>
    <h3>${methods.map((method) => method.toUpperCase()).join(', ')} <code class="address">${path}</code></h3>
    <p>${operation.summary}</p>
    ${prose(operation.description ?? '')}
    ${
      parameters.length > 0 &&
      html`<details>
        <summary>${words.parameters} (${parameters.length})</summary>
        <dl class="facts-list">
          ${parameters.map(
            (parameter) =>
              html`<dt><code>${parameter.name}</code></dt>
                <dd>
                  <code>${typeOf(document, parameter.schema ?? {})}</code>
                  ${parameter.in !== 'query' && html`(${parameter.in})`}
                  ${inlineProse(parameter.description ?? '')}
                </dd>`,
          )}
        </dl>
      </details>`
    }
    <details>
      <summary>${words.answers}</summary>
      <dl class="facts-list">
        ${Object.entries(operation.responses).map(([status, response]) =>
          responsePart(document, status, response),
        )}
      </dl>
    </details>
  </article>`
}

function responsePart(document: Json, status: string, response: Json): Html {
  const { description, content, headers } = resolved(document, response)
  const types = Object.keys(content ?? {})
  const names = Object.keys(headers ?? {})
  return html`<dt>${status}</dt>
    <dd>
      ${inlineProse(String(description))}
      ${types.length > 0 && html`<p class="facts"><code>${types.join(', ')}</code></p>`}
      ${names.length > 0 && html`<p class="facts">${names.join(', ')}</p>`}
    </dd>`
}

function schemasPart({ words }: PageContext, document: Json): Html | false {
  const schemas = (document['components'] as Named<Named<Json>>)['schemas'] ?? {}
  const objects = Object.entries(schemas).filter(([, schema]) => schema['properties'] !== undefined)
  if (objects.length === 0) return false
  return html`<section lang="en">
    <h2>${words.shapes}</h2>
    ${objects.map(
      ([name, schema]) =>
        html`<details>
          <summary><code>${name}</code></summary>
          <dl class="facts-list">
            ${Object.entries(schema['properties'] as Named<Json>).map(
              ([key, property]) =>
                html`<dt><code>${key}</code></dt>
                  <dd>
                    <code>${typeOf(document, property)}</code>
                    ${inlineProse(typeof property['description'] === 'string' ? property['description'] : '')}
                  </dd>`,
            )}
          </dl>
        </details>`,
    )}
  </section>`
}

function resolved(document: Json, value: Json): Json {
  const reference = value['$ref']
  if (typeof reference !== 'string') return value
  let part: unknown = document
  for (const step of reference.slice(2).split('/')) part = (part as Json)[step]
  return part as Json
}

function typeOf(document: Json, schema: Json): string {
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    const target = resolved(document, schema)
    return target['properties'] === undefined ? typeOf(document, target) : (reference.split('/').at(-1) ?? '')
  }
  const { type, format, items, enum: choices, const: constant, anyOf } = schema
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(anyOf)) return anyOf.map((form) => typeOf(document, form as Json)).join(' | ')
  if (Array.isArray(choices)) {
    const choiceTexts = choices.slice(0, choicesShown).map((choice) => String(choice))
    return [...choiceTexts, ...(choices.length > choicesShown ? ['…'] : [])].join(' | ')
  }
  if (typeof items === 'object' && items !== null) return `${typeOf(document, items as Json)}, …`
  const types = [type].flat().filter((name) => typeof name === 'string')
  return types.join(' | ') + (typeof format === 'string' ? ` (${format})` : '')
}

const choicesShown = 12

function prose(text: string): Html {
  const blocks = text.split('\n\n').filter((block) => block.trim() !== '')
  return html`${blocks.map((block) =>
    block.startsWith('- ')
      ? html`<ul>
          ${block.split('\n').map((line) => html`<li>${inlineProse(line.slice(2))}</li>`)}
        </ul>`
      : html`<p>${inlineProse(block)}</p>`,
  )}`
}

function inlineProse(text: string): Html {
  const pieces = text.split(/(`[^`]*`|(?<!\\)\[(?:\\.|[^[\]\\])*\]\([^()\s]*\))/)
  return html`${pieces.map((piece) => {
    if (/^`.*`$/s.test(piece)) return html`<code>${piece.slice(1, -1)}</code>`
    const [, name, address] = /^\[(.*)\]\(([^()\s]*)\)$/s.exec(piece) ?? []
    const safe = address === undefined ? null : safeAddress(address)
    return safe === null ? html`${unescaped(piece)}` : html`<a href="${safe}">${unescaped(name ?? '')}</a>`
  })}`
}

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, '$1')

export function referencePage(service: PageService): Resource {
  const { catalog, context, writing } = service
  const { addresses, language, words } = context
  return {
    ...pageAt(service, '/reference', 'Reference'),
    find: ({ target }) => {
      parseQuery(target, [])
      const options = optionsOf(service)
      return webPage(service, ['reference'], () =>
        referenceHtml(context, {
          title: words.reference,
          document: openApi(writing, [], options),
          address: options.addresses.list.replace(/datasets\/?$/, 'openapi.json'),
          tableLinks: allTables(catalog).map((table) => ({
            name: tableId(table),
            address: addresses.reference(language, table),
          })),
          inLanguage: (code) => addresses.reference(code),
          trail: [],
        }),
      )
    },
  }
}

export function tableReferencePage(service: PageService): Resource {
  const { context, writing, snapshots } = service
  const { addresses, words } = context
  return {
    ...pageAt(service, '/dataset/:dataset/:table/reference', 'Table Reference'),
    find: (request) => {
      const { key, dataset, table } = requestedTable(service, request)
      const options = optionsOf(service)
      const describe = (): Promise<TableDescription> => describeTable(snapshots, dataset, table)
      return webPageOf(service, ['reference', ...key], describe, (view) =>
        referenceHtml(context, {
          title: `${words.reference}: ${dataset.name}, ${titleOf(table)}`,
          document: tableOpenApi(writing, view, options),
          address: options.tableDocument(dataset, table),
          tableLinks: [],
          inLanguage: (language) => addresses.reference(language, table),
          trail: trailTo(context, dataset, table),
        }),
      )
    },
  }
}

function optionsOf(service: PageService): OpenApiOptions {
  const addresses = rowAddresses(service)
  return {
    addresses,
    tableDocument: (dataset, table) => `${addresses.table(dataset, table).replace(/\/$/, '')}/openapi.json`,
  }
}
