/** A text in an element or an attribute of XML 1.0, without the characters that it cannot hold. */
export function xmlText(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

type Attributes = Readonly<Record<string, string>>

/** An element of XML, its content already escaped. */
export function element(name: string, content: string, attributes: Attributes = {}): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${xmlText(value)}"`)
  return `<${name}${written.join('')}${content === '' ? '/>' : `>${content}</${name}>`}`
}

export const xmlHead = '<?xml version="1.0" encoding="UTF-8"?>\n'
