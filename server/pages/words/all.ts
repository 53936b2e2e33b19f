import Negotiator from 'negotiator'
import { en } from './en.ts'
import { pt } from './pt.ts'
import { languages, type Language } from '../../../core/catalog/names.ts'
import type { Words } from './en.ts'

/** A language is a file of words, and a line here. */
export const wordsOf: Readonly<Record<Language, Words>> = { pt, en }

/** What a browser asks for, by its `Accept-Language`; the first language where it asks for none of them. */
export function languageFor(accepted: string | undefined): Language {
  const [best] = new Negotiator({ headers: { 'accept-language': accepted ?? '*' } }).languages([...languages])
  return languages.find((language) => language === best) ?? languages[0]
}
