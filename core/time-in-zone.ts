/** Formats ISO 8601 to the second: `2020-06-12T18:05:00-03:00`, with `Z` for UTC (spec: Versioning 4). */
export function timeInZone(moment: Date, timezone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' })
  const name = format.formatToParts(moment).find((part) => part.type === 'timeZoneName')?.value ?? ''
  const [, sign = '', hours = '0', minutes = '0'] = /([+-])(\d\d):(\d\d)/.exec(name) ?? []
  const offsetMinutes = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes))
  const local = new Date(moment.getTime() + offsetMinutes * 60_000)
    .toISOString()
    .slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)
  return offsetMinutes === 0 ? `${local}Z` : `${local}${sign}${hours}:${minutes}`
}
