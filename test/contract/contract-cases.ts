import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * The contract as files: `cases/<name>.http` holds a request and, after a line `---`, the whole answer.
 * `~` stands for a value that differs each time. The sources beside them are what was ingested.
 */
export const contractFolder = 'test/contract'

export interface ContractCase {
  readonly file: string
  /** The request as the file has it. */
  readonly asked: string
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly expected: string
}

export async function contractCases(): Promise<ReadonlyMap<string, ContractCase>> {
  const folder = path.join(contractFolder, 'cases')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.http'))
  const cases = names.map(async (name): Promise<[string, ContractCase]> => {
    const file = path.join(folder, name)
    const [asked = '', expected = ''] = (await readFile(file, 'utf8')).split('\n---\n')
    const [line = '', ...headerLines] = asked.trim().split('\n')
    const [method = '', target = ''] = line.split(' ')
    const headers = Object.fromEntries(headerLines.map((header) => header.split(': ', 2)))
    return [name, { file, asked: asked.trim(), method, target, headers, expected: expected.trim() }]
  })
  return new Map(await Promise.all(cases))
}
