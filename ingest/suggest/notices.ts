import type { Suggestion } from './suggest.ts'

/** A sentence that asks the author for a decision. */
const question = /\bsay (?:what|whether) .*/s

/** Returns what was noticed about a file, in lines: first what is certain, then numbered questions. */
export function noticeLines({ remarks, fields }: Suggestion): string[] {
  const said = remarks.filter((line) => !question.test(line))
  const columns = fields.flatMap(({ name, evidence }) => {
    const text = question.test(evidence) ? null : doubtIn(evidence)
    return text === null ? [] : [`field "${name}": ${text}`]
  })
  const questions = [
    ...fields.flatMap(({ name, evidence }) => {
      const [asked] = question.exec(evidence) ?? []
      return asked === undefined ? [] : [`field "${name}", a text until then: ${asked}`]
    }),
    ...remarks.filter((line) => question.test(line)),
  ]
  return [
    ...[...said, ...columns].map((line) => `  ${line}`),
    ...(questions.length === 0 ? [] : ['questions, each answered by a line of the catalog:']),
    ...questions.map((line, index) => `  ${index + 1}. ${line}`),
  ]
}

/** Returns what is worth knowing of a column whose values are texts, or null. */
function doubtIn(evidence: string): string | null {
  const at = evidence.indexOf('; all but ')
  if (at !== -1) return evidence.slice(at + 2)
  return evidence.startsWith('all values are null') || evidence.includes('check digits of a CPF')
    ? evidence
    : null
}
