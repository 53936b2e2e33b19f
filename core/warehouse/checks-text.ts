import type { FileChecks, Piece } from './file-checks.ts'

type PieceText = readonly [start: number, length: number, sum: number]

/** As `checks.json` holds those of a file. */
interface ChecksText {
  readonly bytes: number
  readonly footer: PieceText
  readonly columns: readonly string[]
  readonly groups: readonly {
    readonly rows: number
    readonly values: readonly PieceText[]
    readonly filters: readonly (PieceText | null)[]
  }[]
}

const write = ({ start, length, sum }: Piece): PieceText => [start, length, sum]
const read = ([start, length, sum]: PieceText): Piece => ({ start, length, sum })

/**
 * Sums of pieces as the file beside the parts holds them.
 *
 * @param checks by the name of a file
 */
export function checksText(checks: ReadonlyMap<string, FileChecks>): string {
  const texts = [...checks].map(([file, { bytes, footer, columns, groups }]): [string, ChecksText] => [
    file,
    {
      bytes,
      footer: write(footer),
      columns: [...columns.keys()],
      groups: groups.map(({ first, end, values, filters }) => ({
        rows: end - first,
        values: values.map(write),
        filters: filters.some((filter) => filter !== null)
          ? filters.map((filter) => (filter === null ? null : write(filter)))
          : [],
      })),
    },
  ])
  return `${JSON.stringify(Object.fromEntries(texts))}\n`
}

/** What `checksText` wrote, which its hash has to show. */
export function parseChecks(text: string): Map<string, FileChecks> {
  const texts = JSON.parse(text) as Record<string, ChecksText>
  return new Map(
    Object.entries(texts).map(([file, { bytes, footer, columns, groups }]) => {
      let end = 0
      return [
        file,
        {
          bytes,
          footer: read(footer),
          columns: new Map(columns.map((name, place) => [name, place])),
          groups: groups.map(({ rows, values, filters }) => {
            const first = end
            end += rows
            return {
              first,
              end,
              values: values.map(read),
              filters: filters.map((filter) => filter && read(filter)),
            }
          }),
        },
      ]
    }),
  )
}
