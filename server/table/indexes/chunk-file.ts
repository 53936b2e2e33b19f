import path from 'node:path'
import { tableId } from '../../../core/catalog/catalog.ts'
import { messageOf } from '../../../core/errors.ts'
import { readExactly } from '../../../core/warehouse/read-exactly.ts'
import { ChunkFile, type ChunkDirectory } from '../../../core/warehouse/format/chunk-file.ts'
import type { PiecewiseFile } from '../../../core/warehouse/manifest.ts'
import { DamagedFile } from '../../../core/warehouse/verify-files.ts'
import { DamagedTable } from '../engine/errors.ts'
import { Cache } from '../../base/cache.ts'
import { closeFile, descriptorOf } from '../../base/open-files.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'

const directoryBytesMax = 16_000_000
const directories = new Cache<ChunkDirectory>(directoryBytesMax, ({ length }) => length)

/** Returns a reader of a chunk file. Damage throws DamagedTable and withdraws the snapshot. */
export function chunkFileOf(snapshot: Snapshot, file: PiecewiseFile, chunkCount: number): ChunkFile {
  const { bytes, sha256, directory_sum: directorySum } = file
  const withdrawFor = (problem: string): DamagedTable => {
    // Close it, so that a repaired file in its place is opened anew.
    closeFile(file)
    snapshot.withdraw(new DamagedFile(`${file.file} is damaged: ${problem}`))
    return new DamagedTable(tableId(snapshot.table))
  }
  const readBlock = (start: number, length: number): Buffer => {
    let block: Buffer | null
    try {
      block = readExactly(descriptorOf(file, path.join(snapshot.folder, file.file)), start, length)
    } catch (error) {
      closeFile(file)
      snapshot.recheck(messageOf(error))
      throw new DamagedTable(tableId(snapshot.table))
    }
    if (block === null) throw withdrawFor('it is truncated')
    return block
  }
  const cachedDirectory = <T extends ChunkDirectory>(name: string, make: () => T): T => {
    const key = `${sha256} ${name}`
    const directory = directories.get(key)
    if (directory !== undefined) return directory as T
    const newDirectory = make()
    directories.set(key, newDirectory)
    return newDirectory
  }
  return new ChunkFile({
    bytes,
    chunks: chunkCount,
    directorySum,
    read: readBlock,
    damaged: withdrawFor,
    cached: cachedDirectory,
  })
}
