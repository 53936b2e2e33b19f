import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { codeOf, lastWords, messageOf, StartError } from '../../core/errors.ts'
import { readSettings } from '../../core/settings/read.ts'
import { rejectLine, TableFailure } from '../rejects.ts'
import { suggest } from './suggest.ts'

/** `npm run suggest -- FILE`: prints a catalog entry for a CSV, to paste under `tables:` of a dataset. */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) {
    throw new StartError('name one file, such as `make suggest FILE=sources/rain/daily.csv.gz`')
  }
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'acervo-suggest-'))
  try {
    console.log((await suggest(file, scratch, readSettings(process.env))).trimEnd())
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new StartError(`there is no file ${file}`, { cause: error })
    if (codeOf(error) === 'EISDIR') throw new StartError(`${file} is a folder: name a file`, { cause: error })
    if (!(error instanceof TableFailure)) throw error
    throw new StartError([error.message, ...error.rejects.slice(0, 10).map(rejectLine)].join('\n  '), {
      cause: error,
    })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error && error.name === 'Error' ? messageOf(error) : lastWords(error))
  process.exitCode = 1
}
