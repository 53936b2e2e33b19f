import { inAlphabet } from '../../../core/warehouse/format/row-json.ts'
import { describeField } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { TableDocument } from '../document.ts'
import type { TableDescription } from '../description.ts'

export const typescript: TableDocument = {
  file: 'types.ts',
  name: 'TypeScript',
  description: 'The type of a row for TypeScript.',
  contentType: 'application/typescript; charset=utf-8',
  write: (_writing, view) => typescriptText(view),
}

export const python: TableDocument = {
  file: 'types.py',
  name: 'Python',
  description: 'The type of a row for Python.',
  contentType: 'text/x-python; charset=utf-8',
  write: (_writing, view) => pythonText(view),
}

export function typescriptText(view: TableDescription): string {
  const { table, nullable } = view
  const lines = inAlphabet(table.fields).flatMap((field) => {
    const { typescript: type } = typeRow(field.type).called
    const key = /^[A-Za-z_$][\w$]*$/.test(field.name) ? field.name : JSON.stringify(field.name)
    const comment = oneLine(describeField(field)).replaceAll('*/', '*\\/')
    return [
      ...(comment === '' ? [] : [`  /** ${comment} */`]),
      `  ${key}: ${type}${nullable.has(field.name) ? ' | null' : ''}`,
    ]
  })
  return [
    `/** ${aboutRow(view).replaceAll('*/', '*\\/')} */`,
    `export interface ${nameOf(view)} {`,
    ...lines,
    '}',
    '',
  ].join('\n')
}

export function pythonText(view: TableDescription): string {
  const { table, nullable } = view
  const fields = inAlphabet(table.fields)
  const typedFields = fields.map((field): [name: string, type: string, comment: string] => {
    const { python: type } = typeRow(field.type).called
    return [field.name, nullable.has(field.name) ? `Optional[${type}]` : type, oneLine(describeField(field))]
  })
  const areNamesIdentifiers = fields.every(({ name }) => /^[A-Za-z_]\w*$/.test(name) && !keywords.has(name))
  const body = areNamesIdentifiers
    ? [
        `class ${nameOf(view)}(TypedDict):`,
        `    ${JSON.stringify(aboutRow(view))}`,
        '',
        ...typedFields.map(([name, type, comment]) => `    ${name}: ${type}${remark(comment)}`),
      ]
    : [
        `# ${aboutRow(view)}`,
        `${nameOf(view)} = TypedDict(${JSON.stringify(nameOf(view))}, {`,
        ...typedFields.map(
          ([name, type, comment]) => `    ${JSON.stringify(name)}: ${type},${remark(comment)}`,
        ),
        '})',
      ]
  return ['from typing import Optional, TypedDict', '', '', ...body, ''].join('\n')
}

const remark = (comment: string): string => (comment === '' ? '' : `  # ${comment}`)

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
)

function aboutRow({ dataset, table, manifest }: TableDescription): string {
  const snapshot = manifest === null ? '' : `, snapshot ${manifest.snapshot}`
  return oneLine(`A row of ${dataset.slug}/${table.name}, as JSON has it${snapshot}.`)
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

function nameOf({ table }: TableDescription): string {
  const words = table.name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Za-z]/.test(name) ? name : `Table${name}`
}
