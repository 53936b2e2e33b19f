import { framed, type Setting } from './frame.ts'
import { html, markup, safeAddress, type Html } from './html.ts'

interface JsonView {
  /** Of the resource. */
  readonly name: string
  /** Absolute, of the answer itself. */
  readonly address: string
  /** As it is answered to programs. */
  readonly text: string
  /** Whether that is only its beginning. */
  readonly isCut: boolean
}

/** Longer ones are shown as they are, since nobody looks at so much, and it would take long. */
const highlightedMax = 500_000
/** Even of those so many characters, with a way to the rest. */
export const jsonShownMax = 2_000_000

/** What a program gets at this address, for people to look at. */
export function jsonPage(setting: Setting, { name, address, text, isCut }: JsonView): Html {
  const { words, catalog } = setting
  const separator = address.includes('?') ? '&' : '?'
  const plain = `${address}${separator}format=json`
  const main = html`
    <h1>${name}</h1>
    <p>${catalog.notice}</p>
    <p><a href="${plain}" rel="nofollow">${words.asJson}</a></p>
    <pre
      class="json"
      tabindex="0"
    ><code>${text.length > highlightedMax ? text : markup(highlighted(text))}</code></pre>
    ${isCut && html`<p><a href="${plain}" rel="nofollow">${words.jsonCut}</a></p>`}
  `
  return framed(setting, { title: name, main, inLanguage: null })
}

/** What JSON is made of; white space only ever stands between. */
const tokens = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g

/** Starts of lines by depth. Deeper values stay on one line: JSON of a source may be nested as deep as it is long. */
const lineStarts = Array.from({ length: 20 }, (_, depth) => `\n${'  '.repeat(depth)}`)

/** Formats JSON as markup, a line a value. Numbers and texts keep their spelling. */
function highlighted(text: string): string {
  const pieces: string[] = []
  let depth = 0
  let before = ''
  const line = (): void => {
    const start = lineStarts[depth]
    if (start !== undefined) pieces.push(start)
  }
  const found = text.match(tokens) ?? []
  for (const [index, token] of found.entries()) {
    const isEnd = token === '}' || token === ']'
    const isStart = before === '{' || before === '['
    if (isEnd) depth -= 1
    if (isEnd ? !isStart : isStart) line()
    pieces.push(tokenPart(token, found[index + 1] === ':'))
    if (token === '{' || token === '[') depth += 1
    if (token === ',') line()
    if (token === ':') pieces.push(' ')
    before = token
  }
  return pieces.join('')
}

function tokenPart(token: string, isKey: boolean): string {
  if (token.startsWith('"')) {
    if (isKey) return `<span class="key">${escaped(token)}</span>`
    const address = token.length < 4000 ? addressIn(token) : null
    const shown = escaped(token)
    return address === null ? shown : `<a href="${escaped(address)}" rel="nofollow">${shown}</a>`
  }
  return /^[-\d]/.test(token) ? `<span class="digits">${token}</span>` : token
}

function addressIn(token: string): string | null {
  if (!/^"https?:/i.test(token)) return null
  return safeAddress(JSON.parse(token) as string)
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (found) => entities[found] ?? found)
}
