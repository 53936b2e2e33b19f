import type { Random } from './random.ts'
import * as words from './vocabulary.ts'

/**
 * Invented people, companies and places. The digits of their numbers are random, so check digits are nearly
 * always wrong.
 */

interface City extends words.State {
  readonly city: string
  /** Seven digits. */
  readonly cityCode: number
}

export function cityOf(random: Random): City {
  const state = random.pick(words.states)
  return { ...state, city: cityName(random), cityCode: state.code * 100_000 + random.between(100, 99_999) }
}

export function cityName(random: Random): string {
  const head = random.pick(words.cityHeads)
  return random.chance(0.7) ? `${head} ${random.pick(words.cityTails)}` : head
}

interface Person {
  readonly woman: boolean
  readonly name: string
  /** Short name, as on a ballot. */
  readonly nickname: string
  readonly cpf: string
  readonly born: string
}

export function personOf(random: Random): Person {
  const woman = random.chance(0.5)
  const first = random.pick(woman ? words.womenNames : words.menNames)
  const last = random.pick(words.surnames)
  const link = random.chance(0.4) ? ` ${random.pick(words.surnames)}` : random.chance(0.3) ? ' DA' : ''
  return {
    woman,
    name: `${first}${link} ${last}`,
    nickname: random.chance(0.1)
      ? `${first} "${random.pick(['DA FARMÁCIA', 'DO POVO', 'NETO', 'DO GÁS'])}"`
      : `${first} ${last}`,
    cpf: random.digits(11),
    born: isoDate(random, 1940, 2000),
  }
}

/** Masks a CPF as published: `***697419**`. */
export function maskedCpf(cpf: string): string {
  return `***${cpf.slice(3, 9)}**`
}

interface Company {
  /** Fourteen digits, often with leading zeros. */
  readonly cnpj: string
  readonly name: string
}

export function companyOf(random: Random): Company {
  const owner = random.chance(0.3)
    ? `${random.pick(words.surnames)} & ${random.pick(words.surnames)}`
    : random.pick(words.surnames)
  return {
    cnpj: `${random.chance(0.6) ? '0' : ''}${random.digits(14)}`.slice(0, 14),
    name: `${owner} ${random.pick(words.trades)} ${random.pick(words.companyForms)}`,
  }
}

export function isoDate(random: Random, firstYear: number, lastYear: number): string {
  const first = Date.UTC(firstYear, 0, 1)
  return isoDay(first + random.between(0, (lastYear - firstYear + 1) * 365 - 1) * dayMs)
}

export const dayMs = 86_400_000

export function isoDay(time: number): string {
  return new Date(time).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

/**
 * Returns the number of the epidemiological week, which starts on Sunday and belongs to the year of its
 * Wednesday.
 */
export function weekOf(time: number): number {
  const wednesday = new Date(time + (3 - new Date(time).getUTCDay()) * dayMs)
  const dayOfYear = (wednesday.getTime() - Date.UTC(wednesday.getUTCFullYear(), 0, 1)) / dayMs
  return Math.floor(dayOfYear / 7) + 1
}

/** Returns an amount with two decimals, small ones far more often than large ones. */
export function money(random: Random, max: number): string {
  return (max * random.next() ** 4 + random.next()).toFixed(2)
}
