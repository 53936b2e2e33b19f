import { fieldOf } from '../support/workshop.ts'
import type { Random } from './rows.ts'

/** Rows of every type with what has broken readers before: marks of byte order, noncharacters, long texts, many nulls. */

const fields = [
  'v:string',
  'w:text',
  'few:string',
  'big:integer',
  'x:float',
  'money:decimal:38:3',
  'b:bool',
  'd:date',
  'm:datetime',
]

/** Ordered by texts, so that they bound row groups, and asked for mostly by them. */
export const hostileTable = {
  order: ['v asc'],
  filters: ['v', 'w', 'few', 'money', 'm'],
  search: ['v', 'few'],
  fields: fields.map(fieldOf),
}

const marks = [
  '\uFEFF',
  '\uFEFF',
  '\uFEFF',
  '\uFFFE',
  '\uFFFF',
  '\u{10FFFF}',
  '\u200B',
  '\u2028',
  '\u0001',
  '\u007F',
  '\uE000',
]
const plain = [
  'a',
  'xyz',
  'Z',
  'São',
  'É',
  'straße',
  '漢字',
  '🎉',
  ' ',
  ',',
  '"',
  '\n',
  "'",
  '\\',
  '%',
  '_',
  'None',
]
const few = ['\uFEFF', '\uFEFFxyz', 'xyz', '\uFFFFx', 'plain']
const longBytes = 1_000_000

const pick = <T>(random: Random, items: readonly [T, ...T[]] | readonly T[]): T =>
  items[Math.floor(random() * items.length)] as T

function text(random: Random): string {
  const length = Math.floor(random() * 4)
  const rest = Array.from({ length }, () => pick(random, random() < 0.3 ? marks : plain)).join('')
  return random() < 0.4 ? `${pick(random, marks)}${rest}` : rest
}

function digits(random: Random, most: number): string {
  const length = 1 + Math.floor(random() * most)
  return BigInt(Array.from({ length }, () => Math.floor(random() * 10)).join('')).toString()
}

const two = (number: number): string => String(number).padStart(2, '0')

/** @param longTexts rows whose `w` has a megabyte */
export function hostileCsv(random: Random, rows: number, longTexts = 0): string {
  const sign = (): string => (random() < 0.5 ? '-' : '')
  const day = (): string =>
    `${1900 + Math.floor(random() * 200)}-${two(1 + Math.floor(random() * 12))}-${two(1 + Math.floor(random() * 28))}`
  const cells = (index: number): string[] => [
    text(random),
    index < longTexts ? pick(random, marks) + 'y'.repeat(longBytes) : text(random),
    pick(random, few),
    `${sign()}${digits(random, 18)}`,
    `${sign()}${digits(random, 6)}.${digits(random, 3)}e-3`,
    `${sign()}${digits(random, 30)}.${digits(random, 2)}`,
    random() < 0.5 ? 'true' : 'false',
    day(),
    `${day()} 12:34:${two(Math.floor(random() * 60))}.${1 + Math.floor(random() * 9)}`,
  ]
  const lines = Array.from({ length: rows }, (_, index) => {
    const line = cells(index)
      .map((cell, at) => (random() < 0.25 && !(index < longTexts && at === 1) ? '' : quoted(cell)))
      .join()
    // A line without any value is no row.
    return /^,+$/.test(line) ? line.replace(/,,,$/, ',true,,') : line
  })
  return `v,w,few,big,x,money,b,d,m\n${lines.join('\n')}\n`
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
