import { checkBooleans, checkFormats, checkSigns } from './check-field.ts'
import { at, entries, items, requireField, strings, type Path, type ReportFault } from './raw-document.ts'
import { parseNamePattern } from './name-pattern.ts'

/** Checks rules of sources that the schema in definition.ts cannot express. */
export function checkSource(
  source: unknown,
  path: Path,
  known: readonly string[],
  report: ReportFault,
): void {
  checkFiles(source, path, report)
  for (const type of ['date', 'datetime', 'time'] as const) checkFormats(source, type, type, path, report)
  checkSigns(source, null, path, report)
  checkBooleans(source, path, report)
  if (at(source, 'quote') !== undefined && at(source, 'quote') === (at(source, 'delimiter') ?? ',')) {
    report([...path, 'quote'], '"quote" must differ from "delimiter": change one of them')
  }
  const ofRows = new Set([at(source, 'quote') ?? '"', at(source, 'delimiter') ?? ','])
  const comment = at(source, 'comment')
  if (typeof comment === 'string' && Array.from(comment).every((sign) => ofRows.has(sign))) {
    report(
      [...path, 'comment'],
      `"${comment}" as "comment" would also match rows that begin with a delimiter or quote: declare a text that begins only comments`,
    )
  }
  const replaced = at(source, 'header_in_file')
  const named = at(source, 'header')
  if (Array.isArray(replaced) && !(Array.isArray(named) && named.length === replaced.length))
    report(
      [...path, 'header_in_file'],
      '"header_in_file" needs "header" with the same number of names, one for each column',
    )
  if (Number(at(source, 'header_lines') ?? 1) > 1 && named !== undefined && replaced === undefined)
    report(
      [...path, 'header_lines'],
      '"header_lines" needs a header in the file: with "header", declare its joined cells as "header_in_file"',
    )
  const renamed = entries(source, 'rename')
  for (const [header, name] of renamed) {
    if (header === '__proto__') {
      report([...path, 'rename'], 'a header named "__proto__" cannot be renamed: change it in the source')
    } else if (typeof name === 'string') requireField(name, [...path, 'rename', header], known, report)
  }
  checkGiven(source, path, known, report)
  const columns = new Set(renamed.map(([header]) => header))
  const filled = new Set([...renamed.map(([, name]) => name), ...constantFields(source)])
  for (const [index, name] of strings(source, 'ignore')) {
    const place = [...path, 'ignore', index]
    if (columns.has(name))
      report(
        place,
        `"${name}" is in "rename", so it cannot be ignored: remove it from "rename" or from "ignore"`,
      )
    else if (known.includes(name) && !filled.has(name))
      report(
        place,
        `"${name}" is also a field, which has no other column: remove the field, or "${name}" from "ignore"`,
      )
  }
}

/** Returns the declared files of a source, each with its position in the document. */
function filesOf(source: unknown, path: Path): (readonly [Path, string])[] {
  const one = at(source, 'files')
  if (typeof one === 'string') return [[[...path, 'files'], one]]
  return items(source, 'files').flatMap(([index, file]) => {
    const place: Path =
      typeof file === 'string' ? [...path, 'files', index] : [...path, 'files', index, 'path']
    const filePath = typeof file === 'string' ? file : at(file, 'path')
    return typeof filePath === 'string' ? [[place, filePath] as const] : []
  })
}

function checkFiles(source: unknown, path: Path, report: ReportFault): void {
  for (const [place, file] of filesOf(source, path)) {
    const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(file)
    if (isAddress && (!/^https?:\/\//.test(file) || !URL.canParse(file))) {
      report(place, `"${file}" must be a path under SOURCES, or an http(s) address`)
    } else if (isAddress && /^https?:\/\/[^/?#]*@/.test(file)) {
      report(place, 'an address with a password would appear in every report: remove the password')
    } else if (isAddress && file.includes('*')) {
      report(place, `"${file}" is an address, so it cannot contain *: write the address of each file`)
    } else if (!isAddress && (file.startsWith('/') || file.split('/').includes('..'))) {
      report(place, `"${file}" must be below SOURCES: it must not start with / or contain ..`)
    }
  }
}

/** Returns the fields whose values come from constants or file names, at least in some files. */
export function constantFields(source: unknown): string[] {
  const pattern = at(source, 'from_name')
  const patternFields = typeof pattern === 'string' ? (parseNamePattern(pattern)?.fields ?? []) : []
  const holders = [source, ...items(source, 'files').map(([, file]) => file)]
  return [
    ...patternFields,
    ...holders.flatMap((holder) => entries(holder, 'constants').map(([name]) => name)),
  ]
}

/** Checks values of fields without columns: constants of all files or of some, and parts of file names. */
function checkGiven(source: unknown, path: Path, known: readonly string[], report: ReportFault): void {
  const targets = new Set(entries(source, 'rename').map(([, name]) => name))
  const pattern = at(source, 'from_name')
  const parsed = typeof pattern === 'string' ? parseNamePattern(pattern) : null
  if (typeof pattern === 'string' && parsed === null) {
    report(
      [...path, 'from_name'],
      `"${pattern}" must have a field in braces, such as "yob{year}.csv"; each field may occur once, with text between any two`,
    )
  }
  const patternFields = parsed?.fields ?? []
  const constants = entries(source, 'constants').map(([name]) => name)
  const check = (place: Path, name: string, definedNames: readonly string[]): void => {
    requireField(name, place, known, report)
    if (definedNames.includes(name))
      report(
        place,
        `"${name}" already has a value from "constants" or "from_name" of the source: remove one of the two`,
      )
  }
  for (const name of constants) check([...path, 'constants', name], name, [])
  for (const name of patternFields) check([...path, 'from_name'], name, constants)
  for (const [index, file] of items(source, 'files')) {
    for (const [name] of entries(file, 'constants'))
      check([...path, 'files', index, 'constants', name], name, [...constants, ...patternFields])
  }
  const places: [Path, string][] = [
    ...constants.map((name): [Path, string] => [[...path, 'constants', name], name]),
    ...patternFields.map((name): [Path, string] => [[...path, 'from_name'], name]),
  ]
  for (const [place, field] of places) {
    if (targets.has(field))
      report(
        place,
        `"${field}" has a value from "constants" or "from_name", but a column is renamed to it: remove one of the two`,
      )
  }
}
