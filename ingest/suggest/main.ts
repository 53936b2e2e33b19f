import path from 'node:path'
import { readSettings } from '../../core/settings/read.ts'
import { TemporaryFolder } from '../base/temporary-folder.ts'
import { Board } from '../base/progress.ts'
import { namedFiles, startErrorOf } from '../source/named-files.ts'
import { suggest, suggestionText } from './suggest.ts'

export async function runSuggest(
  names: readonly string[],
  options: { readonly member?: string },
): Promise<void> {
  const settings = readSettings(process.env)
  const folder = await TemporaryFolder.open('acervo-suggest-')
  const scratch = folder.path
  const progress = new Board(process.stderr, Date.now, 1500).progress(names[0] ?? '')
  // Without a terminal, nothing shows progress, so announce the long work.
  if (!process.stderr.isTTY) progress.log(`reading ${names[0] ?? ''}`)
  try {
    const { files, source } = await namedFiles(names, scratch, settings, progress)
    // Several files outside of SOURCES are named as if moved into it.
    const areElsewhere = source.files === undefined && files.length > 1
    const sourceKeys = areElsewhere ? { files: names.map((name) => path.basename(name)) } : source
    const memberKey = options.member === undefined ? {} : { member: options.member }
    const suggestion = await suggest(files, {
      scratch,
      progress,
      limits: settings,
      source: { ...sourceKeys, ...memberKey },
    })
    progress.end()
    if (areElsewhere) console.log('# `files` has the names below SOURCES: move the files there')
    console.log(suggestionText(suggestion).trimEnd())
  } catch (error) {
    progress.end()
    throw startErrorOf(error, names[0] ?? '')
  } finally {
    await folder.remove()
  }
}
