export const backgrounds = {
  light: { paper: '#ffffff', raised: '#f5f6f7' },
  dark: { paper: '#14171a', raised: '#1d2226' },
} as const

export type Light = keyof typeof backgrounds

export type Colours = Readonly<Record<Light, string>>

export const coloursDefault: Colours = { light: '#0a6b57', dark: '#58c9ae' }

export const contrastMin = 4.5

/** Lowest contrast of a colour with the backgrounds: 1 (none) to 21. */
export function contrastIn(light: Light, colour: string): number {
  return Math.min(...Object.values(backgrounds[light]).map((paper) => contrast(colour, paper)))
}

function contrast(first: string, second: string): number {
  const [a, b] = [luminance(first), luminance(second)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((offset) => {
    const part = Number.parseInt(colour.slice(offset, offset + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
