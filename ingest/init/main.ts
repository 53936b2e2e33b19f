import { rename, stat, writeFile } from 'node:fs/promises'
import { parseCatalog } from '../../core/catalog/load.ts'
import { readSettings } from '../../core/settings/read.ts'

const catalog = `# The datasets that this service publishes. docs/reference/catalog.md describes all keys.
# \`acervo add rain.csv\` adds a table to it.

title: Open data
description: Open data, as an API and as pages.
notice: >-
  Use this API sparingly, not to pull entire datasets: for a complete dataset, download its files instead.

# Publisher and contact of the service:
# publisher: { name: Weather Service, url: 'https://example.org/' }
# contact: { name: Open data desk, email: data@example.org }

# Limits per client: requests in a window of time.
limits:
  rows:
    - { requests: 60, per: 1m }
    - { requests: 1000, per: 1h }
  catalog:
    - { requests: 300, per: 1m }

# Addresses of the API, below PUBLIC_URL.
families:
  v1: { prefix: /api/v1, scheme: public, trailing_slash: true }

datasets: []
`

/** Writes a small catalog for a new portal; keeps an existing one under another name. */
export async function runInit(): Promise<void> {
  const { catalog: file } = readSettings(process.env)
  parseCatalog(catalog, file)
  if (await isThere(file)) {
    const backupFile = await freeName(file)
    await rename(file, backupFile)
    console.log(`${file} already existed, and was renamed to ${backupFile}`)
  }
  await writeFile(file, catalog)
  console.log(`Wrote ${file}; \`acervo add ...\` adds a table to it, and \`acervo serve\` serves it`)
}

/** Returns the first unused name of a.1, a.2 and so on. */
async function freeName(file: string): Promise<string> {
  for (let number = 1; ; number += 1) if (!(await isThere(`${file}.${number}`))) return `${file}.${number}`
}

function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
