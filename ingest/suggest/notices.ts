import type { Suggestion } from './suggest.ts'

/** Returns whether a person must decide about a part of the entry. */
export function hasQuestions({ remarks, fields }: Suggestion): boolean {
  return remarks.some(({ isQuestion }) => isQuestion) || fields.some(({ question }) => question !== null)
}

/** Returns lines about a file: first facts, then numbered questions. */
export function noticeLines({ remarks, fields }: Suggestion): string[] {
  const facts = remarks.flatMap(({ text, isQuestion }) => (isQuestion ? [] : [text]))
  const columns = fields.flatMap(({ name, notice }) =>
    notice === null ? [] : [`field "${name}": ${notice}`],
  )
  const questions = [
    ...fields.flatMap(({ name, question }) =>
      question === null ? [] : [`field "${name}", a text until you answer: ${question}`],
    ),
    ...remarks.flatMap(({ text, isQuestion }) => (isQuestion ? [text] : [])),
  ]
  return [
    ...[...facts, ...columns].map((line) => `  ${line}`),
    ...(questions.length === 0 ? [] : ['questions; answer each by a change of the entry in the catalog:']),
    ...questions.map((line, index) => `  ${index + 1}. ${line}`),
  ]
}
