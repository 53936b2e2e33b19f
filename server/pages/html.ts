import { html as template } from 'hono/html'

/** Markup: what is put into it is escaped, whatever it is, unless it is markup itself. */
export type Html = ReturnType<typeof template>

/** A template of markup. Arrays follow each other, and null, undefined and booleans are nothing. */
export const html = (strings: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  template(strings, ...values)

/** The characters of a whole document. */
export function textOf(document: Html): string {
  // Nothing that is put into a page is waited for.
  if (document instanceof Promise) throw new TypeError('a page holds a promise')
  return `<!doctype html>\n${document.toString()}`
}

/** A link out of a text that strangers wrote; null where it is no address that a browser should follow. */
export function safeAddress(text: string): string | null {
  if (!/^https?:\/\/[^\s]+$/i.test(text)) return null
  try {
    return new URL(text).href
  } catch {
    return null
  }
}
