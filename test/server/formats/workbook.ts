import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import yauzl, { type Entry, type ZipFile } from 'yauzl'

/** Reads workbooks as a program that knows nothing of the server does. */

const open = promisify<Buffer, yauzl.Options, ZipFile>((bytes, options, done) => {
  yauzl.fromBuffer(bytes, options, (error, zip) => done(error, zip))
})

/** Returns the parts of a workbook as texts, by their names. */
export async function partsOf(workbook: Buffer): Promise<Readonly<Record<string, string>>> {
  const zip = await open(workbook, { lazyEntries: true, autoClose: false })
  const stream = promisify<Entry, Readable>((entry, done) => {
    zip.openReadStream(entry, (error, read) => done(error, read))
  })
  const parts: Record<string, string> = {}
  const entries: Entry[] = await new Promise((resolve, reject) => {
    const zipEntries: Entry[] = []
    zip.on('entry', (entry: Entry) => {
      zipEntries.push(entry)
      zip.readEntry()
    })
    zip.once('end', () => resolve(zipEntries))
    zip.once('error', reject)
    zip.readEntry()
  })
  for (const entry of entries) {
    const read = await stream(entry)
    parts[entry.fileName] = Buffer.concat((await read.toArray()) as Buffer[]).toString()
  }
  return parts
}

type Cell = string | number | boolean | null

/** Returns the cells of each sheet by its name; dates are the numbers that stand in the file. */
export async function sheetsOf(workbook: Buffer): Promise<Readonly<Record<string, Cell[][]>>> {
  const parts = await partsOf(workbook)
  const names = [...(parts['xl/workbook.xml'] ?? '').matchAll(/<sheet name="([^"]*)"/g)]
  return Object.fromEntries(
    names.map(([, name = ''], index) => {
      const xml = parts[`xl/worksheets/sheet${index + 1}.xml`] ?? ''
      const rows = [...xml.matchAll(/<row>(.*?)<\/row>/gs)].map(([, row = '']) =>
        [...row.matchAll(/<c\/>|<c( [^>]*)>(.*?)<\/c>/gs)].map(([, attributes, content = '']) =>
          attributes === undefined ? null : cellFrom(attributes, content),
        ),
      )
      return [name, rows]
    }),
  )
}

function cellFrom(attributes: string, content: string): Cell {
  const text = content.replaceAll(/<[^>]*>/g, '')
  if (attributes.includes('t="b"')) return text === '1'
  return attributes.includes('t="inlineStr"') ? unescaped(text) : Number(text)
}

function unescaped(xml: string): string {
  return xml
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#13;', '\r')
    .replaceAll('&amp;', '&')
    .replaceAll(/_x([0-9A-F]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
