import { z } from 'zod'
import { fieldTypeNames, type FieldType } from './field-types.ts'

/**
 * The format of catalog.yaml: the shapes. Both the loader and the JSON Schema for editors are made from this
 * one definition; what a shape cannot say (names that must exist, be unique) is in check.ts.
 */

const text = z.string().min(1, 'must not be empty')
const pathName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,99}$/,
    'must be lower-case letters, digits, - and _, starting with a letter or digit',
  )
const address = z
  .string()
  .refine(isWebAddress, 'must be a whole address that starts with http:// or https://')
const date = z.string().refine(isCalendarDate, 'must be a date of the calendar as YYYY-MM-DD')
const timezone = z
  .string()
  .refine(isTimezone, 'must be a time zone by its IANA name, such as America/Sao_Paulo or UTC')
const count = (least: number, most: number) => {
  const message = `must be a whole number from ${least} to ${most}`
  return z.int(message).min(least, message).max(most, message)
}

const party = z.strictObject({ name: text, url: address })
const limit = z.strictObject({
  requests: count(1, 1_000_000_000).describe('How many requests one client may make in the window.'),
  per: z
    .string()
    .regex(/^[1-9]\d{0,4}[smhd]$/, 'must be a span of time such as 30s, 1m, 1h or 1d')
    .describe('The window.'),
})

const family = z.strictObject({
  prefix: z
    .string()
    .regex(/^(\/[a-z0-9_-]+)+$/, 'must be a path such as /api/v1, without a final slash')
    .describe('The path under which the whole catalog answers.'),
  scheme: z
    .enum(['http', 'https'])
    .describe('Scheme of the addresses it emits when PUBLIC_URL is not a loopback address.'),
  trailing_slash: z.boolean().describe('Whether its addresses end in a slash.'),
})

const override = z.strictObject({
  detail_slash: z
    .boolean()
    .optional()
    .describe('Final slash of the dataset address, where it departs from the family.'),
  data_slash: z
    .boolean()
    .optional()
    .describe('Final slash of the row addresses, where it departs from the family.'),
  timezone: timezone.optional().describe('Zone of import_date in this family.'),
})

const field = z.strictObject({
  name: text,
  type: z.enum(fieldTypeNames as [FieldType, ...FieldType[]]),
  precision: count(1, 38).optional().describe('Decimal only: digits in all. Default 18.'),
  scale: count(0, 37).optional().describe('Decimal only: digits after the point. Default 2.'),
})

const source = z.strictObject({
  delimiter: z
    .string()
    .regex(/^[\t !#-/:-@[\]-`{-~]$/, 'must be one ASCII character such as ",", ";" or a tab')
    .optional()
    .describe('What separates the values of a row. Default is the comma.'),
  encoding: z.literal('utf-8').optional().describe('UTF-8 is all that is read so far.'),
  decimal: z.literal('.').optional().describe('The point is all that is read so far.'),
  nulls: z
    .tuple([z.literal('')])
    .optional()
    .describe('Only the empty value is null so far.'),
  rename: z.record(z.string(), text).optional().describe('Header name in the source -> field name.'),
})

const table = z.strictObject({
  name: pathName,
  order: z
    .array(
      z
        .string()
        .regex(/^\S(.*\S)?( (asc|desc))?$/, 'must be a field name with asc or desc, such as "date desc"'),
    )
    .describe('The order of the rows, first key first; nulls come last, ties keep the order of the source.'),
  filters: z.array(text).optional().describe('Fields that readers may filter by.'),
  search: z.array(text).optional().describe('Fields that a search looks through.'),
  max_rejects: z.literal(0).optional().describe('No reject is tolerated so far.'),
  source: source
    .optional()
    .describe('How the source CSV is written, where it departs from a comma-separated one.'),
  fields: z.array(field).min(1, 'must list at least one field'),
})

const dataset = z.strictObject({
  slug: pathName,
  name: text,
  description: text,
  author: party,
  source: party,
  license: party,
  code_url: address,
  listed_in: z
    .array(z.string())
    .describe('Families whose list shows this dataset; its detail answers in all.'),
  collected_at: date,
  timezone: timezone
    .optional()
    .describe('Zone in which import_date is written. Default UTC, which writes Z.'),
  overrides: z.record(z.string(), override).optional().describe('Where this dataset departs from a family.'),
  links: z.array(z.strictObject({ title: text, url: address })),
  tables: z.array(table),
})

export const catalogDefinition = z
  .strictObject({
    title: text,
    description: text.optional(),
    notice: z
      .string()
      .regex(/^[ -~]+$/, 'must be one line of plain ASCII, since it travels in a header')
      .optional()
      .describe('Asks readers to use the API sparingly; sent with every page.'),
    limits: z.strictObject({ rows: z.array(limit), catalog: z.array(limit) }),
    families: z.record(z.string(), family),
    datasets: z.array(dataset),
  })
  .describe('What an Acervo service publishes.')

export type CatalogDefinition = z.infer<typeof catalogDefinition>
export type DatasetDefinition = CatalogDefinition['datasets'][number]
export type TableDefinition = DatasetDefinition['tables'][number]

/** The format as JSON Schema, for editors. */
export function catalogJsonSchema(): unknown {
  return { title: 'Acervo catalog', ...z.toJSONSchema(catalogDefinition, { io: 'input' }) }
}

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value)
}

function isCalendarDate(value: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value)
}

function isTimezone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
