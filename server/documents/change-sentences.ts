import type { Table } from '../../core/catalog/catalog.ts'
import { changeKinds } from '../../core/warehouse/changes.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { schemaChangeOf } from '../../core/warehouse/schema-change.ts'
import type { Words } from './words/en.ts'
import { writtenIn } from './words/number-formats.ts'
import { titleOf } from './words/titles.ts'

export function schemaSentences(
  { fields }: Pick<Table, 'fields'>,
  manifest: Manifest,
  words: Words,
): string[] {
  const change = schemaChangeOf(manifest)
  if (change === null) return []
  const { list } = writtenIn(words)
  const titles = new Map(fields.map((field) => [field.name, titleOf(field)]))
  const titleIn = (name: string): string => titles.get(name) ?? name
  const { added, removed, renamed, retyped, widened, remeasured, kind } = change
  return [
    ...(kind === 'breaking' ? [words.breakingChange] : []),
    ...(added.length > 0 ? [words.newFields(list(added.map(titleIn)))] : []),
    ...(removed.length > 0 ? [words.removedFields(list(removed))] : []),
    ...renamed.map(({ from, to }) => words.renamedField(from, titleIn(to))),
    ...[...retyped, ...widened].map(({ name, from, to }) => words.changedField(titleIn(name), to, from)),
    ...remeasured.map(({ name, from, to }) => words.remeasuredField(titleIn(name), to, from)),
  ]
}

/** Kinds of changes, each with its number of rows in words. */
export function changedRowTexts(
  words: Words,
  changes: Pick<NonNullable<Manifest['changes']>[number], (typeof changeKinds)[number]>,
): { readonly kind: (typeof changeKinds)[number]; readonly text: string }[] {
  return changeKinds
    .filter((kind) => changes[kind] > 0)
    .map((kind) => ({ kind, text: words.rowsOfChange[kind](writtenIn(words).count(changes[kind])) }))
}
