import type { Cell, SampleTable } from './samples.ts'
import { cityName, dayMs, isoDay, weekOf } from './people.ts'
import { randomFrom, type Random } from './random.ts'
import { states, type State } from './vocabulary.ts'

const firstDay = Date.UTC(2020, 1, 25)
const [daysMin, daysMax] = [60, 730]

/**
 * Returns the number of days in a series, which grows with the sample: larger samples have more places and
 * longer series.
 */
function daysFor(rows: number): number {
  return Math.min(daysMax, Math.max(daysMin, Math.round(Math.sqrt(rows))))
}

interface Area {
  readonly state: State
  /** Null for the totals of a state. */
  readonly city: string | null
  readonly code: number
  readonly population: number
}

function areaAt(index: number, random: Random): Area {
  const state = states[index % states.length] as State
  if (index < states.length) {
    return {
      state,
      city: null,
      code: state.code,
      population: state.thousands * 1000 + random.between(0, 999),
    }
  }
  // City codes are unique and have seven digits like real ones: the eleventh city of state ss gets one from
  // ss00110 to ss00119.
  const code = state.code * 100_000 + Math.floor(index / states.length) * 10 + random.between(0, 9)
  return { state, city: cityName(random), code, population: random.between(2000, 400_000) }
}

interface Day {
  readonly place: Area
  readonly time: number
  /** Number of the day in its series, from 1. */
  readonly order: number
  readonly isLast: boolean
  readonly confirmed: number
  readonly deaths: number
  readonly newConfirmed: number
  readonly newDeaths: number
  /** Day of the last bulletin, whose figures are repeated on days without one. */
  readonly available: number
}

/** Yields one series after the other, each from its own random numbers; only the current day is in memory. */
function* series(rows: number, seed: string): Generator<Day> {
  const days = daysFor(rows)
  for (let rowCount = 0, index = 0; rowCount < rows; index += 1) {
    const random = randomFrom(`${seed}/${index}`)
    const place = areaAt(index, random)
    const length = Math.min(days, rows - rowCount)
    const start = firstDay + random.between(0, 30) * dayMs
    const rate = place.population / 2_000_000 + random.next()
    let [confirmed, deaths, available] = [1, 0, start]
    for (let day = 0; day < length; day += 1) {
      const time = start + day * dayMs
      const silent = day > 0 && random.chance(0.12)
      const corrected = !silent && confirmed > 20 && random.chance(0.01)
      const newConfirmed =
        day === 0
          ? 1
          : silent
            ? 0
            : corrected
              ? -random.between(1, 5)
              : random.between(0, Math.ceil(rate * (3 + day / 4)))
      const newDeaths =
        silent || day === 0
          ? 0
          : Math.min(random.between(0, Math.ceil(newConfirmed / 12)), Math.max(0, newConfirmed))
      if (day > 0) confirmed += newConfirmed
      deaths += newDeaths
      if (!silent) available = time
      yield {
        place,
        time,
        order: day + 1,
        isLast: day === length - 1,
        confirmed,
        deaths,
        newConfirmed,
        newDeaths,
        available,
      }
    }
    rowCount += length
  }
}

function* caso(rows: number): Generator<Record<string, Cell>> {
  for (const { place, time, order, isLast, confirmed, deaths } of series(rows, 'caso')) {
    yield {
      date: isoDay(time),
      state: place.state.uf,
      city: place.city,
      place_type: place.city === null ? 'state' : 'city',
      confirmed,
      deaths,
      order_for_place: order,
      is_last: isLast,
      estimated_population: Math.round(place.population * 1.008),
      estimated_population_2019: place.population,
      city_ibge_code: place.code,
      confirmed_per_100k_inhabitants: ((confirmed / place.population) * 100_000).toFixed(5),
      death_rate: (deaths / confirmed).toFixed(4),
    }
  }
}

function* casoFull(rows: number): Generator<Record<string, Cell>> {
  for (const day of series(rows, 'caso_full')) {
    const { place, time, order, isLast, confirmed, deaths, newConfirmed, newDeaths, available } = day
    yield {
      city: place.city,
      city_ibge_code: place.code,
      date: isoDay(time),
      epidemiological_week: weekOf(time),
      estimated_population: Math.round(place.population * 1.008),
      estimated_population_2019: place.population,
      is_last: isLast,
      is_repeated: available !== time,
      last_available_confirmed: confirmed,
      last_available_confirmed_per_100k_inhabitants: ((confirmed / place.population) * 100_000).toFixed(5),
      last_available_date: isoDay(available),
      last_available_death_rate: (deaths / confirmed).toFixed(4),
      last_available_deaths: deaths,
      order_for_place: order,
      place_type: place.city === null ? 'state' : 'city',
      state: place.state.uf,
      new_confirmed: newConfirmed,
      new_deaths: newDeaths,
    }
  }
}

const notes = [
  'Dados totais coletados da Secretaria Estadual de Saúde',
  'Boletim sem número; total de óbitos corrigido, ver "Nota técnica 3"',
  'Divulgado às 18h.\nMunicípios com casos suspeitos não entram no total.',
  'Casos importados: 2, indefinidos: 5',
]

/** Yields bulletins: several per state and date if there are many rows. */
function* boletim(rows: number): Generator<Record<string, Cell>> {
  const random = randomFrom('boletim')
  const days = Math.min(daysMax, Math.max(1, Math.floor(rows / states.length / 1.4)))
  const each = rows / days / states.length
  let rowCount = 0
  for (let day = 0; day < days; day += 1) {
    const date = isoDay(firstDay + day * dayMs)
    for (const [index, { uf }] of states.entries()) {
      const upTo = Math.round((day * states.length + index + 1) * each)
      for (; rowCount < upTo; rowCount += 1) {
        const url = `https://www.saude.${uf.toLowerCase()}.gov.br/boletins/covid-19/${date}-${random.between(1, 999)}.pdf`
        yield { date, state: uf, url, notes: random.chance(0.2) ? random.pick(notes) : null }
      }
    }
  }
}

const causes = ['indeterminate', 'others', 'pneumonia', 'respiratory_failure', 'sars', 'septicemia']

/** One row per state and date; the totals of a state increase from day to day. */
function* obitoCartorio(rows: number): Generator<Record<string, Cell>> {
  const random = randomFrom('obito_cartorio')
  const totals = new Map<string, number>()
  const add = (key: string, count: number): number => {
    const total = (totals.get(key) ?? 0) + count
    totals.set(key, total)
    return total
  }
  for (let index = 0; index < rows; index += 1) {
    const time = Date.UTC(2020, 0, 1) + Math.floor(index / states.length) * dayMs
    const state = states[index % states.length] as State
    const week = weekOf(time)
    const covid = time < firstDay ? 0 : random.between(0, Math.ceil(state.thousands / 900))
    const row: Record<string, Cell> = {
      date: isoDay(time),
      state: state.uf,
      epidemiological_week_2019: week,
      epidemiological_week_2020: week,
      deaths_covid19: add(`${state.uf} covid`, covid),
      new_deaths_covid19: covid === 0 ? null : covid,
    }
    for (const year of [2019, 2020]) {
      const newOfYear = causes.map((cause) => {
        const max = cause === 'others' ? state.thousands / 100 : cause === 'sars' ? 1 : state.thousands / 900
        const count = random.between(0, Math.ceil(max))
        row[`deaths_${cause}_${year}`] = add(`${state.uf} ${cause} ${year}`, count)
        row[`new_deaths_${cause}_${year}`] = count === 0 ? null : count
        return count
      })
      const all = newOfYear.reduce((sum, count) => sum + count, year === 2020 ? covid : 0)
      row[`deaths_total_${year}`] = add(`${state.uf} total ${year}`, all)
      row[`new_deaths_total_${year}`] = all
    }
    yield row
  }
}

export const covid19: readonly SampleTable[] = [
  { id: 'covid19/boletim', rows: 1000, make: boletim },
  { id: 'covid19/caso', rows: 5000, make: caso },
  { id: 'covid19/caso_full', rows: 10_000, make: casoFull },
  { id: 'covid19/obito_cartorio', rows: 1080, make: obitoCartorio },
]
