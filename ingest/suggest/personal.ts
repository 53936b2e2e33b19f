import type { FieldFacts } from '../convert/cast/trial.ts'
import { formatCount } from './field.ts'

interface PersonalNumbers {
  readonly texts: ReadonlySet<string>
  readonly evidence: (facts: FieldFacts) => string
}

const formatted = /^\d{3}\.\d{3}\.\d{3}-\d{2}$/
const company = /^(\d{14}|\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2})$/

/**
 * Finds personal numbers of Brazil (CPF) in a column; null if it has none. Eleven digits without signs, such
 * as phone numbers, count only if all of them have valid check digits.
 */
export function cpfsAmong(columnTexts: readonly string[]): PersonalNumbers | null {
  const bareTexts = columnTexts.filter((text) => /^\d{11}$/.test(text))
  const formattedTexts = columnTexts.filter((text) => formatted.test(text) && isCpf(text))
  const texts = new Set([...formattedTexts, ...(bareTexts.every(isCpf) ? bareTexts : [])])
  if (texts.size === 0) return null
  const meaning = 'values have the check digits of a CPF, a personal identifier of Brazil'
  const others = columnTexts.filter((text) => !texts.has(text))
  if (others.length === 0)
    return {
      texts,
      evidence: ({ filled }) => `all ${formatCount(filled)} ${meaning}: mask: cpf hides a part of each`,
    }
  const remedy = others.every((text) => company.test(text))
    ? 'mask: cpf hides a part of each, and keeps those of companies (CNPJ)'
    : 'source.ignore leaves the column out; mask: cpf needs a column without other texts'
  return { texts, evidence: () => `some ${meaning}: ${remedy}` }
}

function isCpf(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '')
  if (/^(\d)\1*$/.test(digits)) return false
  const check = (length: number): number => {
    const sum = Array.from(digits.slice(0, length)).reduce(
      (total, digit, index) => total + Number(digit) * (length + 1 - index),
      0,
    )
    return ((10 * sum) % 11) % 10
  }
  return check(9) === Number(digits[9]) && check(10) === Number(digits[10])
}
