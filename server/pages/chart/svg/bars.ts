import {
  chartWidths,
  type Sized,
  type Drawn,
  type DrawnGroup,
  textAt,
  rect,
  characterWidth,
  titleCharacter,
  shortName,
  boundsOf,
  stack,
} from './parts.ts'

const barHeight = 24
/** Maximum number of characters of a value behind its bar; longer ones are written in short. */
const valueMax = 11

/** Draws a bar for each group, with its value behind it. */
export function bars(drawing: Sized): Drawn {
  const { groups, series, width } = drawing
  const textOf = ({ marks: [only, ...others] }: DrawnGroup): string => {
    const sum = others.reduce((all, mark) => all + (mark?.value ?? 0), only?.value ?? 0)
    const exact = series.length === 1 ? (only?.text ?? '') : ''
    return exact === '' || exact.length > valueMax ? drawing.short(sum) : exact
  }
  const longest = groups.reduce((most, group) => Math.max(most, textOf(group).length), 0)
  const barLeft = width === chartWidths.narrow ? 126 : 250
  const barRight = width - Math.min(width / 3, characterWidth * (longest + 2))
  const [min, max] = boundsOf(drawing, true)
  const x = (value: number): number => barLeft + ((value - min) / (max - min)) * (barRight - barLeft)
  const body = groups.map((group, index) => {
    const y = index * barHeight
    const isCapital = group.name === group.name.toUpperCase()
    const nameWidth = isCapital ? titleCharacter : characterWidth
    const above = group.marks.reduce((sum, mark) => sum + Math.max(0, mark?.value ?? 0), 0)
    return [
      textAt(shortName(group.name, Math.floor((barLeft - 8) / nameWidth)), 0, y + 15),
      stack(drawing, group, (from, to, one) =>
        rect(x(Math.min(from, to)), y + 4, Math.abs(x(to) - x(from)), 14, one),
      ),
      textAt(textOf(group), x(above) + 8, y + 15),
    ].join('')
  })
  return { height: groups.length * barHeight + 6, body: body.join('') }
}
