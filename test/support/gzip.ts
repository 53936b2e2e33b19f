import zlib from 'node:zlib'

/** Bytes around the deflate data of a member without a name: RFC 1952. */
const [headBytes, tailBytes] = [10, 8]

/** Reads a gzip file as clients do that stop after its first member: the text, and how many bytes of the file follow. */
export function firstMember(file: Uint8Array): { text: Buffer; unread: number } {
  const { buffer, engine } = zlib.inflateRawSync(file.subarray(headBytes), {
    info: true,
  }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } }
  return { text: buffer, unread: file.length - headBytes - engine.bytesWritten - tailBytes }
}
