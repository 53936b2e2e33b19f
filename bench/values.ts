import type { FieldType } from '../core/catalog/field-types.ts'
import type { Digits } from '../core/catalog/types/field-type.ts'
import type { Random } from './random.ts'

const places = ['Água', 'Boa Vista', 'Caçador', 'Ilhéus', 'Jaú', 'Mossoró', 'São Paulo', 'Três Corações']

const dateFrom = ({ integerBetween }: Random): string =>
  new Date(Date.UTC(integerBetween(2010, 2025), integerBetween(0, 11), integerBetween(1, 28)))
    .toISOString()
    .slice(0, 10)

export const randomValue: Readonly<Record<FieldType, (random: Random, digits: Digits) => string>> = {
  bool: (random) => String(random.chance(0.5)),
  date: dateFrom,
  datetime: (random) =>
    `${dateFrom(random)} ${random.integerBetween(10, 23)}:${random.integerBetween(10, 59)}:00`,
  decimal: (random, { precision, scale }) => {
    const integerPart = random.integerBetween(0, 10 ** Math.min(precision - scale, 5) - 1)
    return `${random.chance(0.05) ? '-' : ''}${integerPart}${scale === 0 ? '' : `.${random.digits(scale)}`}`
  },
  float: (random) => (random.next() * 100).toFixed(4),
  integer: (random) => String(random.integerBetween(-5, 100_000)),
  json: (random) =>
    `{"id": ${random.integerBetween(1, 99)}, "rate": ${random.integerBetween(0, 99)}.50, "said": "${random.pick(['a', 'b, c', '\\"é\\"'])}"}`,
  list: (random) => {
    const texts = ['água', 'solo, ar', 'say "ah"', 'a\nb', '\u001f\\']
    return JSON.stringify(Array.from({ length: random.integerBetween(0, 3) }, () => random.pick(texts)))
  },
  point: (random) =>
    `${random.integerBetween(-89, 89)}.${random.digits(3)}, ${random.integerBetween(-179, 179)}.${random.digits(4)}`,
  string: (random) => `${random.pick(places)} ${random.integerBetween(1, 99)}`,
  text: (random) => `${random.pick(places)}, "${random.pick(places)}"\n${random.pick(places)}`,
  time: (random) =>
    `${random.integerBetween(0, 27)}:${random.integerBetween(10, 59)}:${random.integerBetween(10, 59)}`,
}
