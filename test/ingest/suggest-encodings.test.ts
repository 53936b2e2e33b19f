import iconv from 'iconv-lite'
import { whatCame } from './support/declared.ts'
import { entryOf, ingested } from './support/suggested.ts'
import { testSampled } from '../support/runs.ts'

/** Encodings of files, which the letters of their words show. */

const texts = {
  Portuguese: ['São João do Caí', 'Açailândia', 'Água potável', 'revisão', 'MACEIÓ', 'três irmãos'],
  // Read as latin-1, these have a letter of Danish, but as a capital within words: JoÆo.
  'Portuguese names': ['João', 'Simão', 'Sebastião'],
  Spanish: ['Año', 'León', 'Cádiz', 'niño', 'Mérida', 'pingüino'],
  French: ['Château-Thierry', 'Évry', 'forêt', 'garçon', 'où', 'naïf'],
  German: ['Köln', 'Düsseldorf', 'Straße', 'Österreich', 'Ämter'],
  'French names': ['Bœuf', 'Le Cœur', 'Crème', '12,50 €', 'Œufs'],
  Turkish: ['İstanbul', 'Iğdır', 'Muğla', 'Şişli', 'çarşı', 'gülşen'],
  Danish: ['København', 'Ærø', 'Ålborg', 'Sønderjylland'],
  Polish: ['Łódź', 'Kraków', 'Gdańsk', 'Świętokrzyskie', 'żółty', 'Częstochowa'],
  Czech: ['Plzeň', 'České Budějovice', 'Příbram', 'Ústí', 'Žďár', 'kůň'],
  Russian: ['Томск', 'Садовая', 'Нижний Новгород', 'улица'],
  Ukrainian: ['Київ', 'Чернігів', 'вулиця', 'Львів'],
  Japanese: ['東京', '大阪', 'さくら', 'カタカナ', '横浜市'],
  Chinese: ['北京', '上海', '广州', '人口', '城市'],
} as const

type Case = readonly [language: keyof typeof texts, encoding: string, isAsked: boolean]

const contentOf = ([language, encoding]: Case): Buffer =>
  iconv.encode(`n;v\n${texts[language].map((text, n) => `${n};${text}`).join('\n')}\n`, encoding)

testSampled<Case>([
  ['Portuguese', 'latin-1', false],
  ['Spanish', 'latin-1', false],
  ['French', 'windows-1252', false],
  ['German', 'latin-1', false],
  ['Danish', 'latin-1', false],
  ['Portuguese', 'cp850', true],
  ['Portuguese names', 'cp850', true],
  ['German', 'cp850', true],
  ['Portuguese', 'macintosh', true],
  ['French', 'macintosh', true],
  ['Polish', 'windows-1250', true],
  ['Czech', 'windows-1250', true],
  ['Polish', 'iso-8859-2', true],
  ['Czech', 'iso-8859-2', true],
  ['French names', 'iso-8859-15', true],
  ['Turkish', 'windows-1254', true],
  ['Russian', 'windows-1251', true],
  ['Ukrainian', 'windows-1251', true],
  ['Japanese', 'shift-jis', true],
  ['Chinese', 'gb18030', true],
])('%s in %s is read correctly, with a question unless the encoding is a usual one', async (...example) => {
  const [language, encoding, isAsked] = example
  const content = contentOf(example)
  const { output } = await entryOf(content)
  expect(output.includes(`declare it as source.encoding: ${encoding} ("`)).toBe(isAsked)
  await expect(ingested(content)).resolves.toMatchObject({
    rows: texts[language].map((text, n) => [n, text]),
  })
})

test('letters of no known language lead to a question', async () => {
  const { output } = await entryOf(iconv.encode('n;v\n1;Αθήνα\n2;Πάτρα\n3;Λάρισα\n', 'windows-1253'))
  expect(output).toMatch(/declare it as source\.encoding: .*if none is right, save the file as UTF-8/)
})

const declaredAs = (encoding: string) => ({
  fields: ['n:integer', 'v:string'],
  source: { encoding, delimiter: ';' },
})

test.each(['cp850', 'macintosh', 'windows-1250', 'windows-1251', 'shift-jis', 'gb18030'] as const)(
  'a UTF-8 file that is declared as %s is refused until utf-8 is declared',
  async (encoding) => {
    const content = 'n;v\n1;São João\n'
    await expect(whatCame(declaredAs('utf-8'), content)).resolves.toMatchObject({
      rows: [[1, 'São João']],
    })
    await expect(whatCame(declaredAs(encoding), content)).resolves.toEqual({
      refused: [
        `t.csv is UTF-8, but its table is read as ${encoding}: declare utf-8 as source.encoding, and save files of the table that are still ${encoding} as UTF-8`,
      ],
    })
  },
)

test.each([
  ['shift-jis', Buffer.from([0x81, 0x20]), 'some bytes are not shift-jis'],
  ['windows-1251', Buffer.from([0x98]), 'the byte 0x98 is not windows-1251'],
])('bytes that %s does not have are reported', async (encoding, bad, message) => {
  const content = Buffer.concat([iconv.encode('n;v\n1;x\n2;', encoding), bad, Buffer.from('\n')])
  await expect(whatCame(declaredAs(encoding), content)).resolves.toEqual({
    refused: [
      'a row does not match the catalog; nothing was published',
      `  line 3: ${message}: declare the encoding that the file has now as source.encoding, such as utf-8`,
    ],
  })
})

test.each([
  ['Ã£ for ã', 'reuniÃ£o', true],
  ['â€œ for a quote', 'â€œsimâ€', true],
  ['both', 'AMANHÃ\u00a0CEDO e reuniÃ£o', true],
  ['capitals', 'SÃO JOÃO', false],
  ['a capital before a space that does not break', 'AMANHÃ\u00a0CEDO', false],
])(
  'a text with %s leads to a warning only if it is UTF-8 that was decoded wrongly',
  async (_what, text, isMisread) => {
    const content = `n,topic\n1,a\n2,${text}\n3,b\n`
    const warning =
      'line 3 of t.csv has texts such as "Ã£", as UTF-8 that was read in another encoding: check source.encoding, or export the file again'
    await expect(whatCame({ fields: ['n:integer', 'topic:string'] }, content)).resolves.toEqual({
      rows: [
        [1, 'a'],
        [2, text],
        [3, 'b'],
      ],
      notices: isMisread ? [`  warning: ${warning}`] : [],
    })
    expect((await entryOf(content)).output.includes('# line 3 has texts such as "Ã£"')).toBe(isMisread)
  },
)
