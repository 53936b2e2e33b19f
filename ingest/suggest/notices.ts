import type { Suggestion } from './suggest.ts'

/** A sentence that asks the author for a decision. */
const question = /\bsay (?:what|whether) .*/s
/** What is worth knowing of a column whose values are texts, or null. */
const doubtful = /; (all but .*)|^(all values are null.*)|(.*check digits of a CPF.*)/s

/** Returns what was noticed about a file, in lines: first what is certain, then numbered questions. */
export function noticeLines({ remarks, fields }: Suggestion): string[] {
  const said = remarks.filter((line) => !question.test(line))
  const columns = fields.flatMap(({ name, evidence }) => {
    const found = question.test(evidence) ? null : doubtful.exec(evidence)
    const text = found?.[1] ?? found?.[2] ?? found?.[3]
    return text === undefined ? [] : [`field "${name}": ${text}`]
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
