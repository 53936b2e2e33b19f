import type { z } from 'zod'
import { buildCatalog, catalogShape, checkFamilies } from './catalog.ts'
import { datasetShape } from './dataset.ts'
import { checkReferences, type ReferringTable } from './expectations.ts'
import { digitsOf } from './field.ts'
import { below, reportRepeats, unknownName, type Path, type ReportFault } from './shapes.ts'
import { checkTable, tableShape, type TableDefinition } from './table.ts'

interface ParsedCatalog {
  readonly catalog: ReturnType<typeof buildCatalog> | null
  readonly issues: readonly z.core.$ZodIssue[]
  readonly faults: readonly { readonly path: Path; readonly message: string }[]
}

/**
 * Parses the parts of a document one by one, so that a wrong shape hides no other faults. The rules of a
 * table wait until its shape is right.
 */
export function parseDefinition(root: unknown): ParsedCatalog {
  const issues: z.core.$ZodIssue[] = []
  const faults: { path: Path; message: string }[] = []
  const report: ReportFault = (path, message) => faults.push({ path, message })
  const parse = <T extends z.ZodType>(schema: T, value: unknown, path: Path): z.output<T> | null => {
    const { data, error } = schema.safeParse(value)
    for (const issue of error?.issues ?? []) issues.push({ ...issue, path: [...path, ...issue.path] })
    return data ?? null
  }
  const head = parse(catalogShape, root, [])
  const rawDatasets = listOf(root, 'datasets')
  reportNames(rawDatasets, 'slug', 'dataset slug', below(report, 'datasets'))
  const { data: families } = catalogShape.shape.families.safeParse(memberOf(root, 'families'))
  if (families !== undefined) checkFamilies(families, below(report, 'families'))

  const tables: { id: string; definition: TableDefinition | null; report: ReportFault }[] = []
  const datasets = rawDatasets.map((rawDataset, datasetIndex) => {
    const path = ['datasets', datasetIndex]
    const dataset = parse(datasetShape, rawDataset, path)
    if (dataset !== null && families !== undefined)
      checkFamilyNames(dataset, Object.keys(families), below(report, ...path))
    const rawTables = listOf(rawDataset, 'tables')
    reportNames(rawTables, 'name', 'table name', below(report, ...path, 'tables'))
    const definitions = rawTables.map((rawTable, tableIndex) => {
      const tablePath = [...path, 'tables', tableIndex]
      const definition = parse(tableShape, rawTable, tablePath)
      const reportTable = below(report, ...tablePath)
      if (definition !== null) checkTable(definition, reportTable)
      const id = `${String(memberOf(rawDataset, 'slug'))}/${String(memberOf(rawTable, 'name'))}`
      tables.push({ id, definition, report: reportTable })
      return definition
    })
    return { dataset, definitions }
  })
  const referring = tables.flatMap(({ definition, ...table }): ReferringTable[] =>
    definition === null
      ? []
      : [{ ...table, fields: definition.fields.map((field) => ({ ...field, ...digitsOf(field) })) }],
  )
  checkReferences(
    referring,
    tables.map(({ id }) => id),
  )
  if (issues.length > 0 || faults.length > 0 || head === null) return { catalog: null, issues, faults }
  const validDatasets = datasets.flatMap(({ dataset, definitions }) =>
    dataset === null ? [] : { ...dataset, tables: definitions.filter((definition) => definition !== null) },
  )
  return { catalog: buildCatalog({ ...head, datasets: validDatasets }), issues, faults }
}

function reportNames(parts: readonly unknown[], key: string, noun: string, report: ReportFault): void {
  const members = parts.map((part, index) => [[index, key], memberOf(part, key)] as const)
  reportRepeats(members, noun, report)
}

function checkFamilyNames(
  { listed_in: listedIn, overrides }: z.output<typeof datasetShape>,
  knownNames: readonly string[],
  report: ReportFault,
): void {
  const places: [Path, string][] = [
    ...listedIn.map((name, index): [Path, string] => [['listed_in', index], name]),
    ...[...overrides.keys()].map((name): [Path, string] => [['overrides', name], name]),
  ]
  for (const [path, name] of places)
    if (!knownNames.includes(name)) report(path, unknownName('family', name, knownNames))
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined
}

function listOf(value: unknown, key: string): readonly unknown[] {
  const list = memberOf(value, key)
  return Array.isArray(list) ? list : []
}
