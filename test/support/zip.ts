import zlib from 'node:zlib'

export interface ZipEntry {
  readonly name: string
  readonly content: string | Uint8Array
  /** Another check sum than the right one. */
  readonly crc?: number
  readonly isEncrypted?: true
  /** Further bits of the compression flags. */
  readonly flags?: number
  /** Claimed compression method, if not deflate; 0 is none. */
  readonly method?: number
  /** Mode of Unix, such as 0o120777 of a link. */
  readonly mode?: number
}

/** A zip as its format says, so that a test can put any fault into it. */
export function zipOf(...entries: readonly ZipEntry[]): Buffer {
  const [locals, centrals]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const { name, content, crc, isEncrypted, flags = 0, method = 8, mode = 0 } of entries) {
    const text = Buffer.from(content)
    const packed = method === 0 ? text : zlib.deflateRawSync(text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    // Names are UTF-8.
    common.writeUInt16LE(0x800 + flags + (isEncrypted === true ? 1 : 0), 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(crc ?? zlib.crc32(text), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(text.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const place = Buffer.alloc(14)
    place.writeUInt16LE(mode, 8)
    place.writeUInt32LE(offset, 10)
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed])
    const madeBy = Buffer.from([20, 0])
    centrals.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), madeBy, common, place, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(centrals)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries.length, 4)
  end.writeUInt16LE(entries.length, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, central, Buffer.from('PK\u0005\u0006'), end])
}
