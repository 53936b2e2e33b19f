import { groupRows, sectionRows, type Codes } from '../../core/warehouse/format/codes.ts'
import { inOrder } from '../../core/in-order.ts'
import { CodesWriter } from './codes.ts'
import type { Work } from './convert.ts'
import { dueSums, readCodes, codeSums, type CodedField, type DueSums } from './dictionary.ts'
import { requireSame } from './proof.ts'
import { RowStoreWriter } from './row-store.ts'

/**
 * Writes the file of codes and the row store, reading the sorted rows once.
 * @param files target files; no row store is written if `rowStore` is null
 * @param fields fields with codes in the row store
 * @param coded fields with codes in the file of codes
 * @throws TableFailure if a verification fails
 */
export async function writeRows(
  work: Work,
  files: { readonly codes: string; readonly rowStore: string | null },
  rows: number,
  fields: readonly CodedField[],
  coded: readonly CodedField[],
): Promise<void> {
  if (rows === 0) return
  let codes: CodesWriter | null = null
  let rowStore: RowStoreWriter | null = null
  const sections = Array.from(
    { length: Math.ceil(rows / sectionRows) },
    (_, section) => section * sectionRows,
  )
  const written = files.rowStore === null ? coded : fields
  const due = await dueSums(work, written, rows)
  // A connection runs one statement at a time.
  let queue: Promise<unknown> = Promise.resolve()
  const inTurn = async <T>(task: () => Promise<T>): Promise<T> => {
    const result = queue.then(task)
    queue = result.catch(() => undefined)
    return result
  }
  const read = async (first: number) => {
    const count = Math.min(sectionRows, rows - first)
    const found = await readCodes(work, written, first, count)
    const columns = new Map(written.map(({ index }, place) => [index, found[place] ?? new Uint8Array()]))
    for (const field of written) requireDue(field, due.get(field.index), columns.get(field.index), first)
    return { count, columns, others: (await rowStore?.read(first, count)) ?? null }
  }
  try {
    if (coded.length > 0) codes = await CodesWriter.open(files.codes, coded)
    if (files.rowStore !== null) rowStore = await RowStoreWriter.open(work, files.rowStore, fields)
    if (codes === null && rowStore === null) return
    // One section is read while the one before is written.
    const reading = inOrder(sections, 2, (first) => inTurn(() => read(first)))
    for await (const { count, columns, others: uncodedColumns } of reading) {
      await codes?.add(coded.map(({ index }) => columns.get(index) ?? new Uint8Array()))
      const add = async () => rowStore?.add(columns, uncodedColumns, count)
      await (uncodedColumns === null ? inTurn(add) : add())
    }
    await codes?.finish()
    await rowStore?.finish()
  } finally {
    await codes?.close()
    await rowStore?.close()
  }
}

/** @throws TableFailure if the codes of a field do not match the values of the sorted rows */
function requireDue(
  { name }: CodedField,
  due: DueSums | undefined,
  codes: Codes = new Uint8Array(),
  first: number,
): void {
  if (due === undefined) throw new RangeError(`no sums are due of "${name}"`)
  for (let from = 0; from < codes.length; from += groupRows) {
    const group = (first + from) / groupRows
    const sums = due.sums.subarray(2 * group, 2 * group + 2)
    requireSame(`codes of "${name}"`, sums, codeSums(codes.subarray(from, from + groupRows), due))
  }
}
