import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** Rules of CONTRIBUTING.md for names, comments, messages and docs. Each fault is listed with its file, line and rule. */

const rooms = ['core', 'ingest', 'server']
const folders = [...rooms, 'test', 'bench', 'deploy']

/** First words of fragments, which leave open what they are about. */
const fragment =
  /^(Of|What|Whether|How|Such as|Whose|Where|So many|As many|Those|That|Who|Alike|Said|More of|Because|Since|Than)\b/
/** Words that make a reader guess. */
const unclear =
  /\b(whoever|whatever|whichever|told|lies|at hand|comes to|taken over|let go|not here|those that|an ask|the ask|asks of|what is (?:kept|asked|gone|told|read|whole))\b/i
/** Names of files that say nothing about their content. */
const unclearFiles = new Set(
  'looked not-here hash-here near found whole over door aside take-in afford written kept kept-values withdrawn blamed turns hashed remembered'.split(
    ' ',
  ),
)
/** Longest sentence, in words. */
const sentenceMax = 35
const isLong = (sentence: string): boolean => sentence.split(/\s+/).length > sentenceMax

interface Comment {
  readonly line: number
  readonly text: string
}

const texts = new Map<string, string>()
const papers = new Map<string, string>()

beforeAll(async () => {
  for (const folder of folders) {
    for (const name of await readdir(folder, { recursive: true })) {
      const file = path.posix.join(folder, name.replaceAll('\\', '/'))
      if (file.endsWith('.ts')) texts.set(file, await readFile(file, 'utf8'))
    }
  }
  for (const folder of ['.', 'docs', 'test/corpus', 'warehouse']) {
    for (const name of await readdir(folder, { recursive: folder === 'docs' })) {
      const file = path.posix.join(folder, name.replaceAll('\\', '/'))
      if (file.endsWith('.md')) papers.set(file, await readFile(file, 'utf8'))
    }
  }
})

/** Returns the paragraphs, list items and table cells of Markdown, without code. */
function paragraphsIn(markdown: string): Comment[] {
  const paragraphs: { line: number; text: string }[] = []
  let isCode = false
  let isOpen = false
  for (const [index, line] of markdown.split('\n').entries()) {
    if (line.startsWith('```')) isCode = !isCode
    const text = line.replaceAll(/`[^`]+`/g, '`').trim()
    const isText = !isCode && text !== '' && !/^(```|#)/.test(line)
    if (isText && text.startsWith('|')) {
      for (const cell of text.split('|')) paragraphs.push({ line: index + 1, text: cell.trim() })
    } else if (isText && isOpen && !/^([-*]|\d+\.) /.test(text)) {
      const last = paragraphs.at(-1)
      if (last !== undefined) last.text += ` ${text}`
    } else if (isText) paragraphs.push({ line: index + 1, text })
    isOpen = isText && !text.startsWith('|')
  }
  return paragraphs
}

/** Returns the texts in quotes of a file, without the code in templates. */
function messagesIn(text: string): Comment[] {
  return text.split('\n').flatMap((line, index) =>
    /^\s*(\/\/|\/?\*)/.test(line)
      ? []
      : [...line.matchAll(/'([^']*)'|`([^`]*)`/g)].map((match) => ({
          line: index + 1,
          text: (match[1] ?? match[2] ?? '').replaceAll(/\$\{[^}]*\}/g, ''),
        })),
  )
}

/** Returns the comments that stand on lines of their own; consecutive lines are one comment. */
function commentsIn(text: string): Comment[] {
  const comments: { line: number; text: string }[] = []
  let isOpen = false
  for (const [index, line] of text.split('\n').entries()) {
    const [, mark = '', rest = ''] = /^\s*(\/\/|\/\*\*?|\*\/|\*)\s?(.*)$/.exec(line) ?? []
    const isInBlock = isOpen && mark === '*'
    if (mark === '//' || mark.startsWith('/*')) {
      const last = comments.at(-1)
      if (mark === '//' && isOpen && last !== undefined) last.text += ` ${rest}`
      else comments.push({ line: index + 1, text: rest })
      isOpen = !rest.includes('*/')
    } else if (isInBlock) {
      const last = comments.at(-1)
      if (last !== undefined) last.text += `${rest.startsWith('@') || rest === '' ? '\n' : ' '}${rest}`
    } else isOpen = false
  }
  return comments.map(({ line, text: said }) => ({ line, text: said.replace(/\*\/$/, '').trim() }))
}

function faultsOf(fault: (text: string) => string | null): string[] {
  return [...texts].flatMap(([file, text]) =>
    commentsIn(text).flatMap((comment) => {
      const message = fault(comment.text)
      return message === null ? [] : [`${file}:${comment.line}: ${message}`]
    }),
  )
}

test('comments begin with a verb, or a noun phrase that stands alone', () => {
  expect(faultsOf((text) => (fragment.test(text) ? `begins with a fragment: ${text}` : null))).toEqual([])
})

test('comments contain no word that makes a reader guess', () => {
  expect(
    faultsOf((text) => {
      const match = unclear.exec(text)
      return match === null ? null : `replace "${match[0]}": ${text}`
    }),
  ).toEqual([])
})

test('comments of the programs have at most 40,000 words, since names and types come first', () => {
  const words = [...texts]
    .filter(([file]) => [...rooms, 'bench'].includes(file.split('/')[0] ?? ''))
    .flatMap(([, text]) => commentsIn(text).flatMap((comment) => comment.text.match(/\S+/g) ?? []))
  expect(words.length).toBeGreaterThan(20_000)
  expect(words.length).toBeLessThanOrEqual(40_000)
})

test('sentences of comments are short', () => {
  expect(
    faultsOf((text) => {
      const long = text.split(/(?<=[.!?:;])\s+|\n/).find(isLong)
      return long === undefined ? null : `has more than ${sentenceMax} words: ${long}`
    }),
  ).toEqual([])
})

test('messages contain no word that makes a reader guess', () => {
  const faults = [...texts].flatMap(([file, text]) =>
    rooms.includes(file.split('/')[0] ?? '')
      ? messagesIn(text)
          .filter((message) => message.text.includes(' ') && unclear.test(message.text))
          .map((message) => `${file}:${message.line}: ${message.text}`)
      : [],
  )
  expect(faults).toEqual([])
})

test('docs have short sentences and cells, and no word that makes a reader guess', () => {
  const cellMax = 200
  const faults = [...papers].flatMap(([file, text]) => {
    const fromCells = text
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .flatMap((line) => line.split('|'))
      .filter((cell) => cell.trim().length > cellMax)
      .map((cell) => `${file}: a cell has more than ${cellMax} characters: ${cell.trim()}`)
    const fromTexts = paragraphsIn(text).flatMap((paragraph) => {
      const word = unclear.exec(paragraph.text)?.[0]
      const long = paragraph.text.split(/(?<=[.!?:;])\s+/).find(isLong)
      const at = `${file}:${paragraph.line}`
      return [
        ...(word === undefined ? [] : [`${at}: replace "${word}": ${paragraph.text}`]),
        ...(long === undefined ? [] : [`${at}: has more than ${sentenceMax} words: ${long}`]),
      ]
    })
    return [...fromCells, ...fromTexts]
  })
  expect(faults).toEqual([])
})

test('an exported name is defined once', () => {
  const places = new Map<string, string[]>()
  for (const [file, text] of texts) {
    if (!rooms.includes(file.split('/')[0] ?? '')) continue
    const exported = text.matchAll(
      /^export (?:async )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm,
    )
    for (const [, name = ''] of exported) places.set(name, [...(places.get(name) ?? []), file])
  }
  expect(places.size).toBeGreaterThan(700)
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
})

test('no source file has one of the unclear names', () => {
  expect([...texts.keys()].filter((file) => unclearFiles.has(path.basename(file, '.ts')))).toEqual([])
})

test('each file of tests says at its top what it holds', () => {
  const silent = [...texts].filter(([file, text]) => {
    const [head = ''] = text.split(/^(?:test|describe)\w*[(.]/m, 1)
    return file.endsWith('.test.ts') && !head.includes('\n/**')
  })
  expect(silent.map(([file]) => file)).toEqual([])
})

test('the style checks find each comment with its line and its text', () => {
  const comments = commentsIn(
    '/** Of a field. */\nconst a = 1\n  // What is\n  // told\n/**\n * Returns it.\n * @param b c\n */\n',
  )
  expect(comments).toEqual([
    { line: 1, text: 'Of a field.' },
    { line: 3, text: 'What is told' },
    { line: 5, text: 'Returns it.\n@param b c' },
  ])
})

test('the style checks find each text of docs and messages with its line', () => {
  expect(paragraphsIn('# told\n\nOne `told`\ntwo\n- three\n\n| a | b |\n```\ntold\n```\n')).toEqual([
    { line: 3, text: 'One ` two' },
    { line: 5, text: '- three' },
    { line: 7, text: '' },
    { line: 7, text: 'a' },
    { line: 7, text: 'b' },
    { line: 7, text: '' },
  ])
  expect(messagesIn("// 'of a'\nconst told = 'at hand'\n")).toEqual([{ line: 2, text: 'at hand' }])
})
