import Negotiator from 'negotiator'
import { en, type Words } from './en.ts'
import { pt } from './pt.ts'
import { languages, type Language } from '../../../core/catalog/names.ts'

export const wordsOf: Readonly<Record<Language, Words>> = { pt, en }

/** Language preferred by `Accept-Language`; by default the first one. */
export function languageFor(acceptLanguage: string | undefined): Language {
  const [best] = new Negotiator({ headers: { 'accept-language': acceptLanguage ?? '*' } }).languages([
    ...languages,
  ])
  return languages.find((language) => language === best) ?? languages[0]
}
