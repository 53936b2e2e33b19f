/** Exact arithmetic on numbers as texts and doubles. */

export function unscaled(text: string): bigint {
  return BigInt(text.replace('.', ''))
}

/** @param units with `scale` digits after the point */
export function scaledText(units: bigint, scale: number): string {
  if (scale === 0) return String(units)
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Rounds half away from zero. */
export function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const magnitude = dividend < 0n ? -dividend : dividend
  const quotient = (2n * magnitude + divisor) / (2n * divisor)
  return dividend < 0n ? -quotient : quotient
}

const [significantBits, exponentMin] = [53, -1074]

/** Exact sum: whole numbers by the power of two that multiplies them. */
export class DoubleSum {
  readonly #parts = new Map<number, bigint>()

  /** Adds `units * 2 ** exponent`. */
  add(units: bigint, exponent: number): void {
    this.#parts.set(exponent, (this.#parts.get(exponent) ?? 0n) + units)
  }

  dividedBy(divisor: number): number {
    const least = Math.min(...this.#parts.keys())
    let units = 0n
    for (const [exponent, part] of this.#parts) units += part << BigInt(exponent - least)
    return units === 0n ? 0 : nearestDouble(units, least, BigInt(divisor))
  }
}

/** Double nearest to `units * 2 ** exponent / divisor`, half to even; infinite if there is none. */
function nearestDouble(units: bigint, exponent: number, divisor: bigint): number {
  const magnitude = units < 0n ? -units : units
  // The quotient has more bits than a double, so rounding is exact.
  const shift = Math.max(0, bitsOf(divisor) - bitsOf(magnitude) + significantBits + 3)
  const dividend = magnitude << BigInt(shift)
  const stickyBit = BigInt(dividend % divisor !== 0n)
  const quotient = ((dividend / divisor) << 1n) | stickyBit
  const power = exponent - shift - 1
  const droppedBits = Math.max(bitsOf(quotient) - significantBits, exponentMin - power, 0)
  const half = (1n << BigInt(droppedBits)) >> 1n
  const droppedPart = quotient & ((1n << BigInt(droppedBits)) - 1n)
  const mantissa = quotient >> BigInt(droppedBits)
  const isUp = droppedPart > half || (droppedPart === half && droppedBits > 0 && (mantissa & 1n) === 1n)
  const rounded = Number(mantissa + BigInt(isUp))
  // A single power of two may overflow or underflow a double.
  const scaledPower = power + droppedBits
  const firstPower = Math.max(-1000, Math.min(900, scaledPower))
  const result = rounded * 2 ** firstPower * 2 ** (scaledPower - firstPower)
  return units < 0n ? -result : result
}

function bitsOf(number: bigint): number {
  return number.toString(2).length
}
