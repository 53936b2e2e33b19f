import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** Rules of CONTRIBUTING.md for names and comments. Each fault is listed with its file, line and rule. */

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

beforeAll(async () => {
  for (const folder of folders) {
    for (const name of await readdir(folder, { recursive: true })) {
      const file = path.posix.join(folder, name.replaceAll('\\', '/'))
      if (file.endsWith('.ts')) texts.set(file, await readFile(file, 'utf8'))
    }
  }
})

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
      const found = fault(comment.text)
      return found === null ? [] : [`${file}:${comment.line}: ${found}`]
    }),
  )
}

test('comments begin with a verb, or a noun phrase that stands alone', () => {
  expect(faultsOf((text) => (fragment.test(text) ? `begins with a fragment: ${text}` : null))).toEqual([])
})

test('comments contain no word that makes a reader guess', () => {
  expect(
    faultsOf((text) => {
      const found = unclear.exec(text)
      return found === null ? null : `replace "${found[0]}": ${text}`
    }),
  ).toEqual([])
})

test('sentences of comments are short', () => {
  expect(
    faultsOf((text) => {
      const long = text.split(/(?<=[.!?:;])\s+|\n/).find(isLong)
      return long === undefined ? null : `has more than ${sentenceMax} words: ${long}`
    }),
  ).toEqual([])
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

test('files are named after their content', () => {
  expect([...texts.keys()].filter((file) => unclearFiles.has(path.basename(file, '.ts')))).toEqual([])
})

test('faults of comments are found', () => {
  const found = commentsIn(
    '/** Of a field. */\nconst a = 1\n  // What is\n  // told\n/**\n * Returns it.\n * @param b c\n */\n',
  )
  expect(found).toEqual([
    { line: 1, text: 'Of a field.' },
    { line: 3, text: 'What is told' },
    { line: 5, text: 'Returns it.\n@param b c' },
  ])
})
