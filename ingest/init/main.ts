import { existsSync } from 'node:fs'
import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseCatalog } from '../../core/catalog/load.ts'
import { StartError } from '../../core/errors.ts'
import { readSettings } from '../../core/settings/read.ts'
import { catalogTemplate, ignoreTemplate, readmeTemplate, workflowTemplate } from './templates.ts'

/** Keeps an existing catalog under another name. */
export async function runInit(): Promise<void> {
  const { catalog: file } = readSettings(process.env)
  parseCatalog(catalogTemplate, file)
  if (await isThere(file)) {
    const backupFile = await freeName(file)
    await rename(file, backupFile)
    console.log(`${file} already existed, and was renamed to ${backupFile}`)
  }
  await writeFile(file, catalogTemplate)
  console.log(`Wrote ${file}; \`acervo add ...\` adds a table to it, and \`acervo serve\` serves it`)
}

/**
 * @param folder new or empty
 * @param version of Acervo, which the workflow installs
 * @throws StartError if a file of the project exists
 */
export async function writeProject(folder: string, version: string): Promise<void> {
  const files = {
    'catalog.yaml': catalogTemplate,
    '.gitignore': ignoreTemplate,
    'README.md': readmeTemplate(path.basename(path.resolve(folder))),
    '.github/workflows/refresh.yaml': workflowTemplate(version),
    'sources/.gitkeep': '',
  }
  const existing = Object.keys(files).find((name) => existsSync(path.join(folder, name)))
  if (existing !== undefined)
    throw new StartError(`${path.join(folder, existing)} already exists: name a new folder`)
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text, { flag: 'wx' })
  }
  console.log(`Wrote a project to ${folder}: ${Object.keys(files).join(', ')}`)
  const enter = path.resolve(folder) === process.cwd() ? '' : `cd ${folder}, `
  console.log(`Next: ${enter}\`acervo add FILE\` for each of your CSV files, and \`acervo serve\``)
}

async function freeName(file: string): Promise<string> {
  for (let number = 1; ; number += 1) if (!(await isThere(`${file}.${number}`))) return `${file}.${number}`
}

function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
