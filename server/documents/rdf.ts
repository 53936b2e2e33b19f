import { DataFactory, Writer, type Quad } from 'n3'
import type { Json } from './description.ts'

const prefixes = {
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  hydra: 'http://www.w3.org/ns/hydra/core#',
  prov: 'http://www.w3.org/ns/prov#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  spdx: 'http://spdx.org/rdf/terms#',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
} as const

/**
 * RDF node in JSON-LD: prefixed terms, literals as texts or `@value`, other nodes nested or by `@id`. Null
 * and undefined are left out.
 */
export type Node = Json

export function jsonLd(nodes: readonly Node[]): string {
  return JSON.stringify({ '@context': prefixes, '@graph': nodes }, escapeIds)
}

const escapeIds = (key: string, value: unknown): unknown =>
  key === '@id' && typeof value === 'string' ? iri(value) : value

export function turtle(nodes: readonly Node[]): string {
  const writer = new Writer({ prefixes })
  let nodeCount = 0
  const quads: Quad[] = []
  const objectOf = (value: unknown): Quad['object'] => {
    if (typeof value === 'string') return DataFactory.literal(value)
    if (!isNode(value)) return DataFactory.literal(String(value))
    const { '@value': text, '@language': language, '@type': type } = value
    if (typeof text !== 'string' && typeof text !== 'number') return addNode(value)
    const datatype = typeof type === 'string' ? DataFactory.namedNode(expandTerm(type)) : undefined
    return DataFactory.literal(String(text), typeof language === 'string' ? language : datatype)
  }
  const addNode = (
    node: Node,
  ): ReturnType<typeof DataFactory.namedNode> | ReturnType<typeof DataFactory.blankNode> => {
    const { '@id': id, '@type': types = [], ...terms } = node
    nodeCount += 1
    const subject =
      typeof id === 'string'
        ? DataFactory.namedNode(expandTerm(iri(id)))
        : DataFactory.blankNode(`b${nodeCount}`)
    for (const type of [types].flat()) {
      const typeNode = DataFactory.namedNode(expandTerm(String(type)))
      quads.push(DataFactory.quad(subject, DataFactory.namedNode(`${prefixes.rdf}type`), typeNode))
    }
    for (const [term, values] of Object.entries(terms)) {
      for (const value of [values].flat()) {
        if (value === null || value === undefined) continue
        quads.push(DataFactory.quad(subject, DataFactory.namedNode(expandTerm(term)), objectOf(value)))
      }
    }
    return subject
  }
  for (const node of nodes) addNode(node)
  writer.addQuads(quads)
  let [text, failure] = ['', null as Error | null]
  // `end` calls back before it returns.
  writer.end((error, result) => {
    failure = error as Error | null
    text = result
  })
  if (failure !== null) throw failure
  return text
}

/** Addresses in the catalog may contain characters that IRIs forbid. */
function iri(address: string): string {
  return address.replaceAll(/[\p{Cc} <>"{}|\\^`]/gu, (character) => encodeURIComponent(character))
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

function expandTerm(term: string): string {
  const [prefix = '', name = ''] = term.split(/:(.*)/s)
  return Object.hasOwn(prefixes, prefix) ? `${prefixes[prefix as keyof typeof prefixes]}${name}` : term
}
