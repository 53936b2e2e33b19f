import type { RequestHandler } from 'express'
import { unacceptableParameters, Problem } from './problems.ts'

/** The representations on offer, the first one preferred: `format=` and `Accept` choose among them. */
export const formats = [{ name: 'json', mediaType: 'application/json' }] as const

/** Refuses a request whose `Accept` excludes every representation (406 with the list). */
export const requireAcceptable: RequestHandler = (req, _res, next) => {
  if (req.accepts(formats.map((format) => format.mediaType)) !== false) {
    next()
    return
  }
  const offered = formats.map((format) => format.mediaType).join(', ')
  next(new Problem('not-acceptable', `The Accept header excludes what is offered here: ${offered}.`))
}

/** @throws Problem invalid-parameter where `format` names none on offer */
export function checkFormat(format: string | undefined): void {
  const names = formats.map(({ name }) => name)
  if (format === undefined || names.some((name) => name === format)) return
  const message = `The parameter "format" must be one of: ${names.join(', ')}.`
  throw unacceptableParameters([{ parameter: 'format', message }])
}
