import { testSampled } from '../support/runs.ts'
import { entryOf, linesOf } from './support/suggested.ts'

/** Titles, units and measures that a suggestion takes from the header and the values of a file. */

interface Texts {
  readonly title?: string
  readonly unit?: string
}

testSampled<[header: string, value: string, texts: Texts, isMeasure: boolean]>([
  ['Valor (R$)', '10.50', { title: 'Valor', unit: 'R$' }, true],
  ['Receita [R$]', '10', { title: 'Receita', unit: 'R$' }, true],
  ['Passageiros (pessoas)', '812', { title: 'Passageiros', unit: 'pessoas' }, true],
  ['  Chuva   total (mm)', '3.5', { title: 'Chuva total', unit: 'mm' }, true],
  ['Área (km²)', '7', { title: 'Área', unit: 'km²' }, true],
  // Values whose sums mean nothing.
  ['Refeições (unidades)', '31', { title: 'Refeições', unit: 'unidades' }, true],
  ['Altura (m)', '3.5', { title: 'Altura', unit: 'm' }, false],
  ['Diâmetro (cm)', '35', { title: 'Diâmetro', unit: 'cm' }, false],
  ['Idade (anos)', '35', { title: 'Idade', unit: 'anos' }, false],
  ['Taxa (%)', '7.5', { title: 'Taxa', unit: '%' }, false],
  ['Temperatura (°C)', '21', { title: 'Temperatura', unit: '°C' }, false],
  ['Preço (R$/kg)', '4.20', { title: 'Preço', unit: 'R$/kg' }, false],
  ['Renda média (R$)', '1500.20', { title: 'Renda média', unit: 'R$' }, false],
  ['PIB per capita (R$)', '1500.20', { title: 'PIB per capita', unit: 'R$' }, false],
  ['Valor unitário (R$)', '7', { title: 'Valor unitário', unit: 'R$' }, false],
  ['Average wage (US$)', '7', { title: 'Average wage', unit: 'US$' }, false],
  ['Intermediação (R$)', '7', { title: 'Intermediação', unit: 'R$' }, true],
  // Numbers that cannot be added up exactly.
  ['Massa (kg)', '2.5E-3', { title: 'Massa', unit: 'kg' }, false],
  // Brackets that hold no unit, and texts.
  ['População (2010)', '200', { title: 'População (2010)' }, false],
  ['Alunos (total)', '200', { title: 'Alunos (total)' }, false],
  ['Nome (R$)', 'abc', { title: 'Nome (R$)' }, false],
  // A unit in the values.
  ['Custo', 'R$ 7', { title: 'Custo', unit: 'R$' }, true],
  ['Parte', '7%', { title: 'Parte', unit: '%' }, false],
  // Names like those of variables need no title.
  ['NM_CITY', 'abc', {}, false],
  ['city', 'abc', {}, false],
  ['2019', '5', {}, false],
  ['Cidade: "a" #1', 'abc', { title: 'Cidade: "a" #1' }, false],
])(
  'the header %j above the value %j gives the right title, unit and measure',
  async (header, value, texts, isMeasure) => {
    const { entry } = await entryOf(
      linesOf(`n;"${header.replaceAll('"', '""')}"`, `1;${value}`, `2;${value}`),
    )
    const field = entry.fields[1] as Texts & { name: string }
    const { title, unit } = field
    const { measures = [] } = entry as { measures?: string[] }
    expect({ ...(title !== undefined && { title }), ...(unit !== undefined && { unit }) }).toEqual(texts)
    expect(measures).toEqual(isMeasure ? [field.name] : [])
  },
)

/** Pairs of a date and a city occur once; a number with a unit, and a name of two rows, identify no row. */
const paired = [
  'day;city;rain (mm);note',
  '2024-01-01;Jaú;1.5;a',
  '2024-01-02;Jaú;2.5;a',
  '2024-01-01;Ita;3.5;',
]

testSampled<[title: string, lines: readonly string[], key: string | null]>([
  ['the first column whose values all differ', ['id;name', '1;a', '2;a'], '[id]'],
  ['a pair of columns', paired, '[day, city]'],
  [
    'a pair of columns before a count whose values differ too',
    ['ano;uf;casos', '2020;SP;7', '2020;BA;9', '2021;SP;5', '2021;BA;3'],
    '[ano, uf]',
  ],
  ['a number that is named as an identifier', ['nome;codigo', 'a;7', 'b;9'], '[nome]'],
  ['a count if nothing else differs', ['nome;casos', 'a;7', 'a;9'], '[casos]'],
  ['a name that YAML would read as a truth value', ['yes;b', 'x;1', 'y;1'], '["yes"]'],
  ['no column, where rows repeat', ['a;b', '1;2', '1;2'], null],
  ['no column that lacks a value in some row', ['a;b', '1;2', ';2'], null],
  ['no column of one row', ['a;b', '1;2'], null],
  [
    'a pair of columns of which the first one differs in the first 50,000 rows alone',
    ['id;part', ...Array.from({ length: 50_100 }, (_, row) => `${row % 50_050};${row < 50_050 ? 'a' : 'b'}`)],
    '[id, part]',
  ],
  [
    'no column of a large file whose last row lacks a value',
    ['id;part', ...Array.from({ length: 50_100 }, (_, row) => `${row === 50_099 ? '' : row};a`)],
    null,
  ],
])('a suggestion proposes the key of a table: %s', async (_what, lines, key) => {
  const { output } = await entryOf(linesOf(...lines))
  expect(/^ +# key: (\[.*?\]) # all/m.exec(output)?.[1] ?? null).toBe(key)
})
