#!/usr/bin/env -S UV_THREADPOOL_SIZE=16 MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=262144 node --max-semi-space-size=2 --initial-old-space-size=32 --enable-source-maps
import { createRequire } from 'node:module'
import { existsSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { codeOf, fatalMessage } from '../core/errors.ts'
import { didYouMean } from '../core/text.ts'
import { paint } from './base/paint.ts'

/**
 * The program `acervo`: verbs, arguments and help. Verbs load their modules on demand, so that `--help` is
 * fast. The first line of the file sets what a process reads only at its start: threads, and options that
 * keep memory small.
 */

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

const wrongUsage = 2

const program = new Command('acervo')
  .description('Publishes open datasets as a fast, read-only JSON API and as web pages.')
  .argument('[files...]', 'CSV files, folders of them, or web addresses, to publish and serve at once')
  .version(version, '-V, --version')
  .helpOption('-h, --help', 'show help, also of each command')
  .helpCommand('help [command]', 'show the help of a command')
  .exitOverride((error) => {
    throw error
  })
  .configureHelp({ sortSubcommands: false, styleTitle: (title) => paint('strong', title) })
  .showHelpAfterError('(run `acervo --help` for all commands)')

const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`

async function run(work: () => Promise<number> | Promise<void>): Promise<void> {
  process.exitCode = (await work()) ?? 0
}

/** DuckDB's allocator reads this when it is loaded, and returns free memory soon. */
function shrinkDuckdb(): void {
  process.env['DUCKDB_JE_MALLOC_CONF'] ??= 'narenas:1,dirty_decay_ms:250,muzzy_decay_ms:0'
}

async function runServer(): Promise<void> {
  shrinkDuckdb()
  // Imports the server by URL: the folders `ingest` and `server` do not import each other.
  await import(new URL('../server/process/main.js', import.meta.url).href)
}

program.action((files: string[]) => {
  const [first] = files
  if (first === undefined) program.help({ error: true })
  requireFiles(files)
  return run(async () => {
    shrinkDuckdb()
    const { publishFiles } = await import('./add/publish.ts')
    if (!(await publishFiles(files))) return 1
    await runServer()
    return 0
  })
})

/** An input that is no file is more often a misspelled verb. */
function requireFiles(inputs: readonly string[]): void {
  const missingInput = inputs.find((input) => !/^https?:/.test(input) && !existsSync(input))
  if (missingInput === undefined) return
  const hint = didYouMean(
    missingInput,
    program.commands.map((command) => command.name()),
  )
  program.error(`error: there is no command and no file ${missingInput}${hint}`)
}

program
  .command('init')
  .description('write a project: the catalog, a folder of sources, and a workflow that refreshes them')
  .argument('[folder]', 'a new folder; without it, only a catalog is written, and an existing one renamed')
  .action((folder: string | undefined) =>
    run(async () => {
      const { runInit, writeProject } = await import('./init/main.ts')
      await (folder === undefined ? runInit() : writeProject(folder, version))
    }),
  )
  .addHelpText('after', examples('acervo init my-portal'))

program
  .command('add')
  .description('add a CSV to the catalog and publish it; detects its format')
  .argument('<files...>', 'CSV files, a quoted pattern, a web address, or - for standard input')
  .option('--dataset <slug>', 'dataset of the table; by default from the name of the folder')
  .option('--table <name>', 'name of the table; by default from the name of the file')
  .option('--member <pattern>', 'files of a zip to read, such as "*_2026.csv"')
  .option('--no-publish', 'only write the entry, so that you can answer its questions first')
  .action((files: string[], options: object) =>
    run(async () => (await import('./add/main.ts')).runAdd(files, options)),
  )
  .addHelpText(
    'after',
    examples(
      'acervo add rain.csv --dataset=weather',
      "acervo add 'sales-*.csv' --dataset=shop --table=sales",
      'acervo add messy.csv --no-publish',
      'acervo add https://example.org/data.zip --member="*_2026.csv"',
    ),
  )

program
  .command('suggest')
  .description('print a catalog entry for a CSV, and change nothing')
  .argument('<files...>', 'CSV files, a quoted pattern, a web address, or - for standard input')
  .option('--member <pattern>', 'files of a zip to read, such as "*_2026.csv"')
  .action((files: string[], options: object) =>
    run(async () => (await import('./suggest/main.ts')).runSuggest(files, options)),
  )
  .addHelpText('after', examples('acervo suggest rain.csv', 'zcat rain.csv.gz | acervo suggest -'))

program
  .command('ingest')
  .description('publish changed sources; all tables by default')
  .argument('[tables...]', 'tables such as covid19/caso, or datasets such as covid19')
  .option('--accept-drift', 'publish in spite of differences from the last snapshot')
  .option('--no-changes', 'publish no changes since the last snapshot, after rows were erased')
  .option('--unpublished', 'only tables that are not published as declared')
  .option('--quiet', 'print only faults and warnings')
  .action((tables: string[], options: object) =>
    run(async () => (await import('./run/main.ts')).runIngest(tables, options)),
  )
  .addHelpText(
    'after',
    examples('acervo ingest', 'acervo ingest covid19/caso', 'acervo ingest --accept-drift covid19/caso'),
  )

program
  .command('check')
  .description('validate the catalog and the sources without publishing')
  .argument('[tables...]', 'tables or datasets')
  .addOption(
    new Option('--format <format>', 'output for a terminal, a pull request, or a program')
      .choices(['text', 'markdown', 'json'])
      .default('text'),
  )
  .option('--accept-drift', 'accept differences from the last snapshot')
  .action((tables: string[], options: { format: 'text' | 'markdown' | 'json' }) =>
    run(async () => (await import('./check/main.ts')).runCheck(tables, options)),
  )
  .addHelpText('after', examples('acervo check', 'acervo check --format=markdown weather/rain'))

program
  .command('serve')
  .description('serve the published tables; settings are environment variables')
  .action(() => run(runServer))
  .addHelpText('after', examples('acervo serve', 'PORT=8080 MEMORY=512MB acervo serve'))

program
  .command('verify')
  .description('reread all published files, and name damaged ones')
  .argument('[tables...]', 'tables or datasets')
  .action((tables: string[]) => run(async () => (await import('./verify/main.ts')).runVerify(tables)))
  .addHelpText('after', examples('acervo verify', 'acervo verify covid19'))

program
  .command('rollback')
  .description('return a table to its previous snapshot')
  .argument('<table>', 'a table, such as covid19/caso')
  .action((table: string) => run(async () => (await import('./rollback/main.ts')).runRollback(table)))
  .addHelpText('after', examples('acervo rollback covid19/caso'))

program
  .command('sample')
  .description('copy invented sources for the tables of the shipped catalog')
  .argument('[tables...]', 'tables or datasets')
  .option('--if-none', 'copy nothing if there are sources')
  .action((tables: string[], options: { ifNone?: boolean }) =>
    run(async () => (await import('./sample/main.ts')).runSample(tables, options)),
  )
  .addHelpText('after', examples('acervo sample', 'acervo sample covid19/caso_full'))

program.addHelpText(
  'after',
  `${examples('acervo rain.csv', 'acervo init my-portal', 'acervo add rain.csv --dataset=weather', 'acervo serve')}

Exit codes: 0 success, 1 a failure that the output explains, ${wrongUsage} a wrong command line.`,
)

// A reader such as `head` may close the pipe early; the work continues.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') throw error
  })

try {
  await program.parseAsync()
} catch (error) {
  // Commander has printed its message, or the help that was requested.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : wrongUsage
  else {
    const message = fatalMessage(error)
    console.error(typeof message === 'string' ? paint('bad', message, process.stderr) : message)
    process.exitCode = 1
  }
}
