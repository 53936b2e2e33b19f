import { quotedName, quotedText } from '../sql.ts'

/** The rows by which two snapshots of a table differ: see `changes.parquet` in docs/reference/format.md. */

export const changeKinds = ['added', 'removed', 'changed'] as const

interface ChangeColumns {
  readonly kindColumn: string
  readonly changedColumn: string
  readonly old: (field: string) => string
}

/** Column names get more underscores if a field has the same name. */
export function changeColumns(fields: readonly string[]): ChangeColumns {
  const taken = fields.map((name) => name.toLowerCase())
  let mark = '_'
  const isTaken = (name: string): boolean =>
    name === `${mark}change` || name === `${mark}changed` || name.startsWith(`${mark}old_`)
  while (taken.some(isTaken)) mark += '_'
  return {
    kindColumn: `${mark}change`,
    changedColumn: `${mark}changed`,
    old: (field) => `${mark}old_${field}`,
  }
}

interface ComparedForm {
  readonly fields: readonly string[]
  readonly key: readonly string[] | null
}

export interface ChangesFile extends ComparedForm {
  readonly file: string
}

/** All fields but the key; none without a key. */
export function fieldsWithOld({ fields, key }: ComparedForm): string[] {
  return key === null ? [] : fields.filter((name) => !key.includes(name))
}

export function changedListSql(changed: string): string {
  return `from_json(${quotedName(changed)}, '["varchar"]')`
}

/** SQL: the earlier value of a field; added rows have none. */
export function earlierSql(name: string, compared: ComparedForm): string {
  if (!fieldsWithOld(compared).includes(name)) return quotedName(name)
  const { changedColumn, old } = changeColumns(compared.fields)
  const isChanged = `list_contains(${changedListSql(changedColumn)}, ${quotedText(name)})`
  return `case when ${isChanged} then ${quotedName(old(name))} else ${quotedName(name)} end`
}

export function statesSql({ file, ...compared }: ChangesFile, state: 'old' | 'new'): string {
  const { kindColumn } = changeColumns(compared.fields)
  const columns = compared.fields.map((name) =>
    state === 'old' ? `${earlierSql(name, compared)} as ${quotedName(name)}` : quotedName(name),
  )
  return `select ${columns.join(', ')} from read_parquet(${quotedText(file)})
    where ${quotedName(kindColumn)} <> '${state === 'old' ? 'added' : 'removed'}'`
}
