import type { Field, Table } from '../../core/catalog/catalog.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { QueryParameters } from './parameters.ts'
import { formatList } from './list.ts'
import { operatorsOf, readValue } from './operators.ts'

interface ExampleQuery {
  readonly description: string
  readonly isExport: boolean
  readonly parameters: QueryParameters
}

export function exampleQueries(table: Table, report: SnapshotReport | null): ExampleQuery[] {
  const reportFields = new Map(report?.fields.map((field) => [field.name, field]))
  const filterFields = table.fields.filter(({ name }) => table.filters.includes(name))
  const choicesOf = (field: Field): string[] => {
    const texts = reportFields.get(field.name)?.choices ?? []
    return texts.flatMap((text) => readValue(field, text) ?? []).filter((text) => text !== '')
  }
  const maxOf = (field: Field): string | null => bound(field, reportFields.get(field.name)?.max)
  const choiceField = filterFields.find((field) => choicesOf(field).length > 1)
  const rangeField = filterFields.find(
    (field) => operatorsOf(field).includes('range') && maxOf(field) !== null,
  )
  const orderName = table.order[0]?.field ?? table.filters[0]
  const examples: ExampleQuery[] = []
  if (choiceField !== undefined) {
    const [first = '', second = first] = choicesOf(choiceField)
    const { name } = choiceField
    examples.push(
      query(`rows with ${name} ${first}`, { [`${name}__eq`]: first }),
      query(`rows with ${name} ${first} or ${second}`, { [`${name}__in`]: formatList([first, second]) }),
      query(
        `all rows with ${name} ${first}, as one CSV`,
        { [`${name}__eq`]: first, format: 'csv' },
        { isExport: true },
      ),
    )
  }
  if (rangeField !== undefined) {
    const { name } = rangeField
    examples.push(query(`rows with the highest ${name}`, { [`${name}__gte`]: maxOf(rangeField) ?? '' }))
  }
  if (orderName !== undefined) {
    examples.push(
      query(`ten rows, by ${orderName} in descending order`, {
        ordering: formatList([`-${orderName}`]),
        page_size: '10',
      }),
    )
  }
  const fieldNames = table.fields.slice(0, 2).map(({ name }) => name)
  return [...examples, query('some fields only, as CSV', { fields: formatList(fieldNames), format: 'csv' })]
}

function query(
  description: string,
  parameters: Record<string, string>,
  { isExport = false }: { readonly isExport?: boolean } = {},
): ExampleQuery {
  return { description, isExport, parameters: new Map(Object.entries(parameters)) }
}

function bound(field: Field, text: string | null | undefined): string | null {
  if (text === null || text === undefined || text === '' || text.endsWith('…')) return null
  return readValue(field, text)
}
