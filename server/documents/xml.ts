import { escapeMarkup } from '../../core/text.ts'

export function xmlText(text: string): string {
  return escapeMarkup(text.replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD'))
}

type Attributes = Readonly<Record<string, string>>

export function element(name: string, content: string, attributes: Attributes = {}): string {
  const attributeTexts = Object.entries(attributes).map(([key, value]) => ` ${key}="${xmlText(value)}"`)
  return `<${name}${attributeTexts.join('')}${content === '' ? '/>' : `>${content}</${name}>`}`
}

export const xmlHead = '<?xml version="1.0" encoding="UTF-8"?>\n'
