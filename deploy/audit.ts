import { text } from 'node:stream/consumers'

/**
 * Reads the output of `npm audit --json`, and fails if a shipped package has a known fault without an answer
 * here. Warns if the registry has no audits, since then nothing was checked.
 */

/** Address of an advisory -> why it does not concern us. */
const answered: ReadonlyMap<string, string> = new Map()

interface Audit {
  /** Why there is no audit. */
  readonly message?: string
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>
}

interface Vulnerability {
  readonly name: string
  readonly severity: string
  /** Advisories, and names of packages that it has them from. */
  readonly via: readonly (string | { readonly url: string; readonly title: string })[]
}

const audit = JSON.parse(await text(process.stdin)) as Audit
if (audit.vulnerabilities === undefined) {
  console.log(`not looked at, since the registry has no audits: ${audit.message ?? 'it gives no reason'}`)
} else {
  const advisories = Object.values(audit.vulnerabilities).flatMap(({ name, severity, via }) =>
    via.flatMap((cause) => (typeof cause === 'string' ? [] : [{ name, severity, ...cause }])),
  )
  const open = advisories.filter(({ url }) => !answered.has(url))
  for (const { name, severity, title, url } of open) console.log(`${name}: ${title} (${severity}) ${url}`)
  console.log(`${open.length} known faults, and ${advisories.length - open.length} that are answered`)
  process.exitCode = open.length === 0 ? 0 : 1
}
