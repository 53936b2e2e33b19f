import { alignedRows, shorten, visibleJson } from '../../core/text.ts'
import type { Suggestion } from './suggest.ts'
import { fieldsShown } from '../convert/cast/trial.ts'

const valueMax = 24

function fieldTableLines(fields: Suggestion['fields']): string[] {
  const rows = fields.slice(0, fieldsShown).map(({ name, keys, examples, nulls }) => {
    const nullTexts = Array.isArray(keys['nulls'])
      ? (keys['nulls'] as string[]).filter((text) => text !== '')
      : []
    const nullsShown =
      nullTexts.length === 0 || nulls === 0 ? '' : ` (${nullTexts.map(visibleJson).join(', ')})`
    const isText = ['string', 'text'].includes(keys.type)
    const values = examples.map((text) =>
      isText ? visibleJson(shorten(text, valueMax)) : shorten(text, valueMax),
    )
    return [name, keys.type, values.join(', '), `${nulls.toLocaleString('en')}${nullsShown}`]
  })
  const hiddenCount = fields.length - rows.length
  return [
    ...alignedRows([['field', 'type', 'first values', 'nulls'], ...rows]),
    ...(hiddenCount > 0 ? [`and ${hiddenCount.toLocaleString('en')} more fields`] : []),
  ]
}

export function hasQuestions({ remarks, fields }: Suggestion): boolean {
  return remarks.some(({ isQuestion }) => isQuestion) || fields.some(({ question }) => question !== null)
}

/** A summary, fields with examples, further facts, then numbered questions. */
export function noticeLines({ remarks, fields }: Suggestion): string[] {
  const facts = remarks.flatMap(({ text, isQuestion }) => (isQuestion ? [] : [text]))
  const [summary, furtherFacts] = [facts.slice(0, 1), facts.slice(1)]
  const fieldNotices = fields.flatMap(({ name, notice }) =>
    notice === null ? [] : [`field "${name}": ${notice}`],
  )
  const questions = [
    ...fields.flatMap(({ name, question }) =>
      question === null ? [] : [`field "${name}", a text until you answer: ${question}`],
    ),
    ...remarks.flatMap(({ text, isQuestion }) => (isQuestion ? [text] : [])),
  ]
  return [
    ...[...summary, ...fieldTableLines(fields), ...furtherFacts, ...fieldNotices].map((line) => `  ${line}`),
    ...(questions.length === 0 ? [] : ['questions; answer each by a change of the entry in the catalog:']),
    ...questions.map((line, index) => `  ${index + 1}. ${line}`),
  ]
}
