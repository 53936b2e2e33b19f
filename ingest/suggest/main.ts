import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { StartError } from '../../core/errors.ts'
import { readSettings } from '../../core/settings/read.ts'
import { Board } from '../base/progress.ts'
import { namedFiles, startErrorOf } from '../source/named-files.ts'
import { suggest, suggestionText } from './suggest.ts'
import { runProgram } from '../base/program.ts'

/** Usage, shown if no file is named. */
const usage =
  'name a file, such as `make suggest FILE=sources/rain/daily.csv.gz`, a pattern in quotes, an address, or - for standard input'

/**
 * `npm run suggest -- FILE... [--member=PATTERN]`: prints a catalog entry for a CSV, for the `tables` of a
 * dataset.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { member: { type: 'string' } },
    allowPositionals: true,
  })
  if (positionals.length === 0) throw new StartError(usage)
  const settings = readSettings(process.env)
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'acervo-suggest-'))
  const progress = new Board(process.stderr, Date.now, 1500).progress(positionals[0] ?? '')
  // Without a terminal, nothing shows progress, so announce the long work.
  if (!process.stderr.isTTY) progress.log(`reading ${positionals[0] ?? ''}`)
  try {
    const { files, source } = await namedFiles(positionals, scratch, settings, progress)
    // Several files outside of SOURCES are named as if they were moved directly into it.
    const areElsewhere = source.files === undefined && files.length > 1
    const placed = areElsewhere ? { files: positionals.map((name) => path.basename(name)) } : source
    const member = values.member === undefined ? {} : { member: values.member }
    const suggestion = await suggest(files, {
      scratch,
      progress,
      limits: settings,
      source: { ...placed, ...member },
    })
    progress.end()
    if (areElsewhere) console.log('# `files` has the names below SOURCES: move the files there')
    console.log(suggestionText(suggestion).trimEnd())
  } catch (error) {
    progress.end()
    throw startErrorOf(error, positionals[0] ?? '')
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

await runProgram(main)
