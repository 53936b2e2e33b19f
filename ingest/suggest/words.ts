export const unmistakableNulls = new Set(['#NULO#', '#NULO', '#NE#', '#NE', '#N/A', '\\N'])
/** Words for null, except in text columns, in which they may be names. */
export const nullWords = new Set([
  '#NULO#',
  '#NULO',
  '#NE#',
  '#NE',
  '#N/A',
  'NULL',
  'null',
  '\\N',
  'N/A',
  'n/a',
  'NaN',
  'nan',
])
/** Words for null if all other values are numbers, dates or the like. */
export const likelyNulls = new Set(
  '- -- --- – — . .. ... … : * ** ? NA na None none NONE Null ND nd N/D n/d S/D s/d'.split(' '),
)
const yesAndNo = [
  ['true', 'false'],
  ['sim', 'não'],
  ['yes', 'no'],
  ['sí', 'no'],
  ['oui', 'non'],
  ['ja', 'nein'],
  ['verdadeiro', 'falso'],
] as const
const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

/** Words that may stand in a column together. */
export const booleanWords: readonly (readonly [yes: string, no: string])[] = [
  ...yesAndNo.flatMap(([yes, no]): [string, string][] => [
    [yes, no],
    [capitalized(yes), capitalized(no)],
    [yes.toUpperCase(), no.toUpperCase()],
  ]),
  ['SIM', 'NAO'],
  ['Y', 'N'],
  ['S', 'N'],
  ['t', 'f'],
]
/** Letters that have other meanings too, such as a direction. */
export const doubtfulYes = ['S', 't']
/**
 * Prefixes, adjectives, and participles in Portuguese and Spanish, such as `aprovado`, so that S and N are no
 * directions.
 */
export const yesNoName =
  /^(is|has|in|fl|flag|st|sn|ind|indica|indicador|tem|teve|possui|foi|aceita|permite|optante|fator)(_|$)|(^|_)(sn|sim_nao|((in)?ativ|obrigatori|valid)[oa]s?|regular|(?!(lado|estado|estrada|entrada|saida|sentido)s?(_|$))[a-z]+[ai]d[oa]s?)(_|$)/
