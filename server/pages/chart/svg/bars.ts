import {
  chartWidths,
  type Sized,
  type Drawn,
  type DrawnGroup,
  textAt,
  rect,
  characterWidth,
  lineHeight,
  titleCharacter,
  shortName,
  boundsOf,
  stack,
} from './parts.ts'

const barHeight = 24
/** If any value is longer, all values are written in short form. */
const valueMax = 11

function nameWidth(name: string): number {
  return name.length * (name === name.toUpperCase() ? titleCharacter : characterWidth)
}

export function bars(drawing: Sized): Drawn {
  const { groups, series, width } = drawing
  const exactTextOf = ({ marks: [only] }: DrawnGroup): string =>
    series.length === 1 ? (only?.text ?? '') : ''
  // All values have one form, so that they can be compared.
  const hasShortTexts = groups.some((group) => exactTextOf(group).length > valueMax)
  const textOf = (group: DrawnGroup): string => {
    const sum = group.marks.reduce((total, mark) => total + (mark?.value ?? 0), 0)
    const exact = exactTextOf(group)
    return exact === '' || hasShortTexts ? drawing.short(sum) : exact
  }
  const textLengthMax = groups.reduce(
    (longestSoFar, group) => Math.max(longestSoFar, textOf(group).length),
    0,
  )
  const nameWidthMax = groups.reduce((widest, { name }) => Math.max(widest, nameWidth(name)), 0)
  const namesAreAbove = width === chartWidths.narrow && nameWidthMax > width / 3
  const barLeft = namesAreAbove ? 0 : Math.min(width / 2, nameWidthMax + 12)
  const [step, barTop] = namesAreAbove ? [barHeight + lineHeight, lineHeight] : [barHeight, 0]
  const barRight = width - Math.min(width / 3, characterWidth * (textLengthMax + 2))
  const [min, max] = boundsOf(drawing, true)
  const x = (value: number): number => barLeft + ((value - min) / (max - min)) * (barRight - barLeft)
  const body = groups.map((group, index) => {
    const y = index * step
    const barY = y + barTop
    const nameRoom = namesAreAbove ? width : barLeft - 8
    const nameLengthMax = Math.floor((nameRoom / nameWidth(group.name)) * group.name.length)
    const positiveSum = group.marks.reduce((sum, mark) => sum + Math.max(0, mark?.value ?? 0), 0)
    return [
      textAt(shortName(group.name, nameLengthMax), 0, y + 15),
      stack(drawing, group, (from, to, seriesIndex) =>
        rect(x(Math.min(from, to)), barY + 4, Math.abs(x(to) - x(from)), 14, seriesIndex),
      ),
      textAt(textOf(group), x(positiveSum) + 8, barY + 15),
    ].join('')
  })
  return { height: groups.length * step + 6, body: body.join('') }
}
