import { Readable, type PassThrough } from 'node:stream'
import { ZipFile } from 'yazl'
import type { Workbook } from './format.ts'
import { cellStyles, numberFormats, textCell, cellText } from './xlsx-cells.ts'

const compressionLevel = 3

/** Packs a workbook (ECMA-376) in constant memory; its second sheet describes the rows. */
export async function* packWorkbook(
  lines: AsyncIterable<Uint8Array>,
  workbook: Workbook,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = zip.outputStream as PassThrough
  const options = { mtime: workbook.date, compressionLevel }
  // One chunk at a time: they are large.
  const rows = Readable.from(rowsSheet(lines, workbook), { highWaterMark: 1 })
  zip.once('error', (error: Error) => output.destroy(error))
  for (const [name, xml] of Object.entries(smallParts(workbook)))
    zip.addBuffer(Buffer.from(declaration + xml), name, options)
  zip.addReadStream(rows, 'xl/worksheets/sheet1.xml', options)
  zip.end()
  try {
    yield* output
  } finally {
    rows.destroy()
  }
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const mainNamespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const relationsNamespace = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packageNamespace = 'http://schemas.openxmlformats.org/package/2006'
const contentTypePrefix = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

async function* rowsSheet(
  lines: AsyncIterable<Uint8Array>,
  { columns, rows }: Workbook,
): AsyncGenerator<Uint8Array> {
  const headings = columns.map(({ heading }) => textCell(heading, cellStyles.heading))
  // The line of headings stays visible during scrolling.
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
  yield Buffer.from(
    `${declaration}<worksheet ${mainNamespace}><sheetViews><sheetView tabSelected="1" workbookViewId="0">${pane}</sheetView></sheetViews>${colsPart(columns.map(({ width }) => width))}<sheetData><row>${headings.join('')}</row>`,
  )
  yield* lines
  const area = `A1:${columnName(columns.length)}${rows + 1}`
  yield Buffer.from(`</sheetData><autoFilter ref="${area}"/></worksheet>`)
}

function smallParts({ sheetNames, aboutRows }: Workbook): Record<string, string> {
  const sheets = sheetNames.map(
    (name, index) => `<sheet name="${cellText(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  )
  const aboutLines = aboutRows.map(([label = '', ...cells]) => {
    const rowCells = [textCell(label, cellStyles.heading), ...cells.map((text) => textCell(text))]
    return `<row>${rowCells.join('')}</row>`
  })
  const relations = [
    ...sheetNames.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`] as const),
    ['styles', 'styles.xml'] as const,
  ]
  return {
    '[Content_Types].xml': `<Types xmlns="${packageNamespace}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${contentTypePrefix}.sheet.main+xml"/>${sheetNames.map((_, index) => `<Override PartName="/xl/worksheets/sheet${index + 1}.xml" ContentType="${contentTypePrefix}.worksheet+xml"/>`).join('')}<Override PartName="/xl/styles.xml" ContentType="${contentTypePrefix}.styles+xml"/></Types>`,
    '_rels/.rels': relationsPart([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook ${mainNamespace} xmlns:r="${relationsNamespace}"><sheets>${sheets.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationsPart(relations),
    'xl/styles.xml': stylesPart(),
    'xl/worksheets/sheet2.xml': `<worksheet ${mainNamespace}>${colsPart([30, 70, 16, 40])}<sheetData>${aboutLines.join('')}</sheetData></worksheet>`,
  }
}

function relationsPart(targets: readonly (readonly [type: string, target: string])[]): string {
  const relations = targets.map(
    ([type, target], index) =>
      `<Relationship Id="rId${index + 1}" Type="${relationsNamespace}/${type}" Target="${target}"/>`,
  )
  return `<Relationships xmlns="${packageNamespace}/relationships">${relations.join('')}</Relationships>`
}

function stylesPart(): string {
  // Numbers below 164 belong to formats that every program knows.
  const formats = numberFormats.map(
    (code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${cellText(code)}"/>`,
  )
  const styles = numberFormats.map(
    (_, index) =>
      `<xf numFmtId="${index === 0 ? 0 : 164 + index}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
  )
  const heading =
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>'
  return `<styleSheet ${mainNamespace}><numFmts count="${formats.length}">${formats.join('')}</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${styles.length + 1}">${styles.join('')}${heading}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
}

function colsPart(widths: readonly number[]): string {
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  )
  return `<cols>${columns.join('')}</cols>`
}

/** Numbers from 1: A to Z, then AA. */
function columnName(number: number): string {
  const last = String.fromCharCode('A'.charCodeAt(0) + ((number - 1) % 26))
  return number <= 26 ? last : columnName(Math.floor((number - 1) / 26)) + last
}
