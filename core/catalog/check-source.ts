import { checkBooleans, checkFormats, checkSigns } from './check-field.ts'
import { at, entries, requireField, strings, type Path, type Report } from './declared.ts'

/** What the shapes of definition.ts cannot say of how a source is written. */
export function checkSource(source: unknown, path: Path, known: readonly string[], report: Report): void {
  checkFiles(source, path, report)
  for (const type of ['date', 'datetime', 'time'] as const) checkFormats(source, type, type, path, report)
  checkSigns(source, null, path, report)
  checkBooleans(source, path, report)
  if (at(source, 'quote') !== undefined && at(source, 'quote') === (at(source, 'delimiter') ?? ',')) {
    report([...path, 'quote'], 'must be another character than the delimiter')
  }
  const ofRows = [at(source, 'quote') ?? '"', at(source, 'delimiter') ?? ',']
  const comment = at(source, 'comment')
  if (typeof comment === 'string' && ofRows.some((mark) => mark === comment[0])) {
    report([...path, 'comment'], `"${comment}" is what rows begin with: it must tell lines that are none`)
  }
  const renamed = entries(source, 'rename')
  for (const [header, name] of renamed) {
    if (header === '__proto__') {
      report([...path, 'rename'], 'a header named "__proto__" cannot be renamed: change it in the source')
    } else if (typeof name === 'string') requireField(name, [...path, 'rename', header], known, report)
  }
  const targets = renamed.map(([header, name]) => [[...path, 'rename', header], name] as const)
  for (const [name] of entries(source, 'constants')) {
    const place = [...path, 'constants', name]
    requireField(name, place, known, report)
    if (targets.some(([, target]) => target === name)) {
      report(place, `"${name}" has a column that is renamed to it: a field is either constant or read`)
    }
  }
  const columns = new Set(renamed.map(([header]) => header))
  for (const [index, name] of strings(source, 'ignore')) {
    if (columns.has(name)) report([...path, 'ignore', index], `"${name}" is renamed to a field`)
  }
}

function checkFiles(source: unknown, path: Path, report: Report): void {
  const one = at(source, 'files')
  const files = typeof one === 'string' ? [[0, one] as const] : strings(source, 'files')
  for (const [index, file] of files) {
    const place = typeof one === 'string' ? [...path, 'files'] : [...path, 'files', index]
    const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(file)
    if (isAddress && (!/^https?:\/\//.test(file) || !URL.canParse(file))) {
      report(place, `"${file}" must be a path under SOURCES, or an http(s) address`)
    } else if (isAddress && /^https?:\/\/[^/?#]*@/.test(file)) {
      report(place, 'an address with a password would be told in every report: write it without')
    } else if (isAddress && file.includes('*')) {
      report(place, `"${file}": an address cannot be listed, so it must name one file: write each`)
    } else if (!isAddress && (file.startsWith('/') || file.split('/').includes('..'))) {
      report(place, `"${file}" must lie under SOURCES: neither start with / nor hold ..`)
    } else if (!isAddress && file.slice(0, file.lastIndexOf('/') + 1).includes('*')) {
      report(place, `"${file}": * may stand in the name of a file, not of a folder`)
    }
  }
}
