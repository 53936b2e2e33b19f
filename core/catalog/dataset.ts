import { z } from 'zod'
import { themeNames, frequencyNames } from './names.ts'
import { address, camelKeys, mapOf, optional, pathName, texts, timezone } from './shapes.ts'
import { buildTable, tableShape } from './table.ts'

const party = z.strictObject({ name: texts, url: address })
const originator = z.strictObject({ name: texts, url: optional(address) })

export const publisher = optional(party).describe('Publisher, who is responsible for the data.')

export const contact = optional(
  z
    .strictObject({
      name: texts,
      email: optional(
        z
          .string()
          .regex(/^[^\s@<>"]+@[^\s@<>".]+(\.[^\s@<>".]+)+$/, 'must be an address such as data@example.org'),
      ),
      url: optional(address),
    })
    .refine(({ email, url }) => email !== null || url !== null, 'must have an email or a url'),
).describe('Contact by mail or at an address.')

const day = z.string().refine(isCalendarDate, 'must be a calendar date as YYYY-MM-DD')

function isCalendarDate(value: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
}

const boxMessage = 'must be west, south, east and north in degrees, such as [-74.0, -33.8, -34.8, 5.3]'
const degrees = (max: number) => z.number(boxMessage).min(-max, boxMessage).max(max, boxMessage)

const familyOverride = z.strictObject({
  detail_slash: optional(z.boolean()).describe(
    `Final slash of the dataset's address, if it differs from the family.`,
  ),
  data_slash: optional(z.boolean()).describe(
    'Final slash of the addresses of rows, if it differs from the family.',
  ),
  timezone: optional(timezone).describe('Zone of import_date in this family.'),
})

export const datasetShape = z.strictObject({
  slug: pathName,
  name: texts,
  description: texts,
  author: optional(originator).describe('Author of the data; url is optional.'),
  source: optional(originator).describe('Origin of the data; url is optional.'),
  license: optional(party).describe('License of the data.'),
  code_url: optional(address).describe('Code that collects the data.'),
  listed_in: z.array(z.string()).describe('Families that list this dataset; its detail answers in all.'),
  collected_at: day,
  frequency: optional(z.enum(frequencyNames)).describe(
    'Promised interval of updates, by the EU vocabulary of frequencies.',
  ),
  publisher: publisher.describe('Publisher. Default is the publisher of the catalog.'),
  contact: contact.describe('Contact. Default is the contact of the catalog.'),
  themes: z
    .array(z.enum(themeNames))
    .default([])
    .describe('Themes by the codes of the EU vocabulary of data themes, such as HEAL.'),
  keywords: z.array(texts).prefault([]).describe('Keywords for searches.'),
  spatial: optional(
    z.strictObject({
      name: texts.describe('Name of the place.'),
      uri: optional(address).describe(
        'Address in a gazetteer, such as https://sws.geonames.org/3469034/ for Brazil.',
      ),
      bbox: optional(
        z
          .tuple([degrees(180), degrees(90), degrees(180), degrees(90)], boxMessage)
          .refine(([, south, , north]) => south <= north, boxMessage),
      ).describe('West, south, east and north, in degrees.'),
    }),
  ).describe('Place of the data.'),
  temporal: optional(
    z
      .strictObject({
        start: day.describe('First day.'),
        end: optional(day).describe('Last day; open if omitted.'),
      })
      .refine(({ start, end }) => start <= (end ?? start), 'must not end before it starts'),
  ).describe('Period of the data.'),
  language: z
    .array(
      z
        .string()
        .refine(
          (tag) => /^[a-z]{2,3}(-[A-Z]{2})?$/.test(tag) && isLanguage(tag),
          'must be a language by its BCP 47 tag, such as pt or pt-BR',
        ),
    )
    .default([])
    .describe('Languages of its texts, as BCP 47 tags.'),
  timezone: timezone.default('UTC').describe('Zone of import_date. Default is UTC, written as Z.'),
  overrides: mapOf(familyOverride).describe('Differences of this dataset from a family.'),
  links: z.array(z.strictObject({ title: texts, url: address })),
  tables: z.array(z.unknown()),
})

export const datasetDefinition = datasetShape.extend({ tables: z.array(tableShape) })

interface WithDefaults {
  readonly publisher: z.output<typeof publisher>
  readonly contact: z.output<typeof contact>
  readonly engine: 'duckdb' | 'clickhouse'
  readonly families: readonly { readonly name: string; readonly trailingSlash: boolean }[]
}

export function buildDataset(
  { timezone: zone, overrides, ...definition }: z.output<typeof datasetDefinition>,
  defaults: WithDefaults,
) {
  const { slug } = definition
  return {
    ...camelKeys(definition),
    publisher: definition.publisher ?? defaults.publisher,
    contact: definition.contact ?? defaults.contact,
    /** Families that list this dataset; its address exists in all families. */
    listedIn: new Set(definition.listed_in),
    /** Final slashes of addresses, and the IANA zone of `import_date`, by family. */
    forms: new Map(
      defaults.families.map(({ name, trailingSlash }) => {
        const override = overrides.get(name)
        return [
          name,
          {
            detailSlash: override?.detail_slash ?? trailingSlash,
            dataSlash: override?.data_slash ?? trailingSlash,
            timezone: override?.timezone ?? zone,
          },
        ]
      }),
    ),
    tables: new Map(
      definition.tables.map((table) => [
        table.name,
        { ...buildTable(table), dataset: slug, engine: table.engine ?? defaults.engine },
      ]),
    ),
  }
}

function isLanguage(tag: string): boolean {
  // With `fallback: 'none'`, unknown tags have no name.
  return new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(tag) !== undefined
}
