import { z } from 'zod'
import { languages } from './names.ts'

/**
 * Schemas of texts, addresses and optional metadata. Metadata appears in documents for data portals, such as
 * DCAT.
 */

export const plainText = z.string().min(1, 'must not be empty')

/** Text for people: a string, or one per language, of which the first is the default. */
export const texts = z.union([
  plainText,
  z
    .partialRecord(z.enum(languages), plainText)
    .refine((translations) => Object.keys(translations).length > 0, 'must be given in at least one language'),
])

export const address = z
  .string()
  .refine(isWebAddress, 'must be a full address that starts with http:// or https://')

export const day = z.string().refine(isCalendarDate, 'must be a calendar date as YYYY-MM-DD')

export const party = z.strictObject({ name: texts, url: address })
/** A person or organization that may have no address. */
export const originator = z.strictObject({ name: texts, url: address.optional() })

/** Codes of the data themes in the EU Vocabularies. */
const themeNames = [
  'AGRI',
  'ECON',
  'EDUC',
  'ENER',
  'ENVI',
  'GOVE',
  'HEAL',
  'INTR',
  'JUST',
  'REGI',
  'SOCI',
  'TECH',
  'TRAN',
] as const

const boxMessage = 'must be west, south, east and north in degrees, such as [-74.0, -33.8, -34.8, 5.3]'
const degrees = (max: number) => z.number(boxMessage).min(-max, boxMessage).max(max, boxMessage)

export const publisher = party.optional().describe('Publisher, who is responsible for the data.')

export const contact = z
  .strictObject({
    name: texts,
    email: z
      .string()
      .regex(/^[^\s@<>"]+@[^\s@<>".]+(\.[^\s@<>".]+)+$/, 'must be an address such as data@example.org')
      .optional(),
    url: address.optional(),
  })
  .refine(({ email, url }) => email !== undefined || url !== undefined, 'must have an email or a url')
  .optional()
  .describe('Contact by mail or at an address.')

export const datasetMetadata = {
  publisher: publisher.describe('Publisher. Default is the publisher of the catalog.'),
  contact: contact.describe('Contact. Default is the contact of the catalog.'),
  themes: z
    .array(z.enum(themeNames))
    .default([])
    .describe('Themes by the codes of the EU vocabulary of data themes, such as HEAL.'),
  keywords: z.array(texts).default([]).describe('Keywords for searches.'),
  spatial: z
    .strictObject({
      name: texts.describe('Name of the place.'),
      uri: address
        .optional()
        .describe('Address in a gazetteer, such as https://sws.geonames.org/3469034/ for Brazil.'),
      bbox: z
        .tuple([degrees(180), degrees(90), degrees(180), degrees(90)], boxMessage)
        .refine(([, south, , north]) => south <= north, boxMessage)
        .optional()
        .describe('West, south, east and north, in degrees.'),
    })
    .optional()
    .describe('Place of the data.'),
  temporal: z
    .strictObject({
      start: day.describe('First day.'),
      end: day.optional().describe('Last day; open if omitted.'),
    })
    .refine(({ start, end = start }) => start <= end, 'must not end before it starts')
    .optional()
    .describe('Period of the data.'),
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
}

function isLanguage(tag: string): boolean {
  // With `fallback: 'none'`, unknown tags have no name.
  return new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(tag) !== undefined
}

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value)
}

function isCalendarDate(value: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
}
