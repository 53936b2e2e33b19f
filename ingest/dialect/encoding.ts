import { isAscii, isUtf8 } from 'node:buffer'
import type { Encoding } from '../../core/catalog/catalog.ts'
import { judgeLetters } from './letters.ts'
import { countBeyondAscii, completeLength } from '../source/utf8.ts'

const wordsMax = 2000
const wordBytesMax = 100
/** Other bytes of ASCII may be parts of characters in multi-byte encodings. */
const betweenWords = /[\0-",;]+/

interface DetectedEncoding {
  readonly encoding: Encoding
  readonly evidence: string
  /** Null or missing if the encoding is certain enough. */
  readonly question?: string | null
}

export class EncodingWitness {
  #isUtf8 = true
  #isAscii = true
  #hasLatin1Controls = false
  /** Characters beyond ASCII in valid UTF-8, and invalid bytes. */
  readonly #counts = { characters: 0, badBytes: 0 }
  /** NUL bytes at even and at odd positions. */
  readonly #nulsByParity: [number, number] = [0, 0]
  #bytes = 0
  /** Words in Latin-1, where each byte is one character. */
  readonly #words = new Set<string>()
  #firstBytes = Buffer.alloc(0)
  #incompleteCharacter = Buffer.alloc(0)

  inspect(chunk: Buffer): void {
    if (this.#firstBytes.length < 4)
      this.#firstBytes = Buffer.concat([this.#firstBytes, chunk.subarray(0, 4)])
    this.#isAscii &&= isAscii(chunk)
    const bytes = Buffer.concat([this.#incompleteCharacter, chunk])
    const length = completeLength(bytes)
    const characters = bytes.subarray(0, length)
    this.#isUtf8 &&= isUtf8(characters)
    if (!isAscii(characters)) {
      // Words in valid UTF-8 are no evidence for another encoding.
      if (!this.#isUtf8 && this.#words.size < wordsMax)
        for (const word of characters.toString('latin1').split(betweenWords))
          if (this.#words.size < wordsMax && word.length <= wordBytesMax && /[\x80-\xff]/.test(word))
            this.#words.add(word)
      const counts = countBeyondAscii(characters)
      this.#counts.characters += counts.characters
      this.#counts.badBytes += counts.badBytes
    }
    this.#incompleteCharacter = Buffer.from(bytes.subarray(length))
    for (let offset = chunk.indexOf(0); offset !== -1; offset = chunk.indexOf(0, offset + 1)) {
      if ((this.#bytes + offset) % 2 === 0) this.#nulsByParity[0] += 1
      else this.#nulsByParity[1] += 1
    }
    this.#bytes += chunk.length
    this.#hasLatin1Controls ||= !this.#isAscii && chunk.some((byte) => byte >= 0x80 && byte < 0xa0)
  }

  get encoding(): DetectedEncoding {
    const [first, second] = this.#firstBytes
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
      return { encoding: 'utf-16', evidence: 'it starts with the byte order mark of UTF-16' }
    }
    const withoutMark = this.#utf16WithoutMark
    if (withoutMark !== null)
      return { encoding: withoutMark, evidence: `every other byte is NUL, which suggests ${withoutMark}` }
    if (this.#isAscii) return { encoding: 'utf-8', evidence: 'all bytes are ASCII, so utf-8 fits' }
    if (this.#isUtf8) return { encoding: 'utf-8', evidence: 'all of it is UTF-8' }
    const { characters, badBytes } = this.#counts
    if (characters >= badBytes)
      return {
        encoding: 'utf-8',
        evidence: `${characters} characters are UTF-8, but ${badBytes} bytes are not`,
      }
    const usual = this.#hasLatin1Controls ? 'windows-1252' : 'latin-1'
    const words = Array.from(this.#words, (word) => Buffer.from(word, 'latin1'))
    const { encoding, question } = judgeLetters(usual, words)
    if (question !== null)
      return { encoding, question, evidence: `it is not UTF-8, and its letters suggest ${encoding}` }
    return usual === 'windows-1252'
      ? {
          encoding: usual,
          evidence: 'it is not UTF-8, and its bytes from 0x80 to 0x9f suggest windows-1252',
        }
      : {
          encoding: usual,
          evidence: 'it is not UTF-8, and the lack of bytes from 0x80 to 0x9f suggests latin-1',
        }
  }

  /** Most characters must be ASCII, each with a NUL byte; otherwise null. */
  get #utf16WithoutMark(): Encoding | null {
    const [even, odd] = this.#nulsByParity
    if (Math.max(even, odd) < 0.3 * this.#bytes || Math.min(even, odd) > 0.05 * this.#bytes) return null
    return even > odd ? 'utf-16be' : 'utf-16le'
  }
}
