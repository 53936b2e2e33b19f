import { typeRow, type FieldType } from '../../core/catalog/field-types.ts'
import { foldText } from '../../core/folding.ts'
import type { FieldKeys } from './field.ts'

export interface FieldTexts {
  readonly title?: string
  readonly unit?: string
}

/** Signs such as `R$` and `%`, short units such as `mm` and `R$/kg`, and plurals such as `pessoas`. */
const unitPattern =
  /^(?:[A-Z]{0,2}\$(?:\/\p{L}+)?|[€£%‰]|°[CF]|µ?\p{Ll}{1,3}[²³23]?(?:\/\p{Ll}{1,4}[²³23]?)?|k?W(?:h)?|MWh?|GWh?|people|\p{Ll}{2,14}s)$/u
/** Shares, heights and ages do not add up. */
const unsummablePattern = /[%‰°/]|^(?:c?m|anos|years)$/
/** Words of folded titles, in Portuguese and English. */
const meanPattern =
  /\b(?:medi[ao]s?|median[ao]?s?|mean|average|avg|per capita|unitari[ao]s?|unit|taxas?|rates?|indices?|index|minim[ao]s?|minimum|maxim[ao]s?|maximum)\b/

/**
 * `Valor (R$)` gives the title "Valor" and the unit "R$", if its values are numbers. A name of a variable,
 * such as `NM_CITY`, is not a title.
 */
export function titleAndUnitOf(cell: string, name: string, keys: FieldKeys): FieldTexts {
  const label = cell.replaceAll(/\s+/gu, ' ').trim()
  const isNumber = typeRow(keys.type as FieldType).wire.kind === 'number'
  const start = Math.max(label.lastIndexOf('('), label.lastIndexOf('['))
  const [before, within] =
    start > 0 && /[)\]]$/.test(label)
      ? [label.slice(0, start).trimEnd(), label.slice(start + 1, -1)]
      : [label, '']
  const hasUnit = isNumber && unitPattern.test(within)
  const marks = Array.isArray(keys['marks']) ? (keys['marks'] as string[]) : []
  const unit = hasUnit ? within : isNumber ? marks.find((mark) => unitPattern.test(mark)) : undefined
  const title = hasUnit ? before : label
  const isTitle = /\p{L}/u.test(title) && !title.includes('_') && title !== name
  return { ...(isTitle && { title }), ...(unit !== undefined && { unit }) }
}

export function isSummable({ title = '', unit }: FieldTexts, { type }: FieldKeys): boolean {
  if (unit === undefined || unsummablePattern.test(unit) || meanPattern.test(foldText(title))) return false
  return typeRow(type as FieldType).isSummed
}
