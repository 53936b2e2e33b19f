import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describeWith } from './support/needs.ts'

/** Packages beside the clients of ACERVO_CLIENTS: `recheck` proves that a regular expression takes linear time. */
const packages = path.resolve(process.env['ACERVO_CLIENTS'] ?? '', '..', 'node_modules')
const require = createRequire(`${packages}/`)

interface Verdict {
  readonly status: 'safe' | 'vulnerable' | 'unknown'
  readonly complexity?: { readonly summary: string }
  readonly attack?: { readonly pattern: string }
}
interface Recheck {
  readonly check: (source: string, flags: string, options: { timeout: number }) => Promise<Verdict>
}
interface Acorn {
  readonly parse: (text: string, options: { ecmaVersion: 'latest'; sourceType: 'module' }) => unknown
}

/** Expressions that only see short texts: `momentsOf` refuses longer ones. */
const bounded = new Set([
  String.raw`/^([\p{L}.]+|\d+)([^\p{L}\d.]+|\.| de | DE )([\p{L}.]+|\d+)(?:\2([\p{L}.]+|\d+))?$/u`,
])

/** Regular expressions of a compiled module. */
function* expressionsIn(node: unknown): Generator<{ readonly pattern: string; readonly flags: string }> {
  if (typeof node !== 'object' || node === null) return
  if ('regex' in node) yield node.regex as { pattern: string; flags: string }
  else for (const child of Object.values(node)) yield* expressionsIn(child)
}

describeWith(existsSync(path.join(packages, 'recheck')), 'recheck (ACERVO_CLIENTS)')(
  'regular expressions',
  () => {
    test('take linear time for any text', async () => {
      const [{ check }, { parse }] = [require('recheck') as Recheck, require('acorn') as Acorn]
      const expressions = new Map<string, { readonly pattern: string; readonly flags: string }>()
      for (const folder of ['core', 'ingest', 'server']) {
        for (const file of readdirSync(path.join('dist', folder), { recursive: true, encoding: 'utf8' })) {
          if (!file.endsWith('.js')) continue
          const text = readFileSync(path.join('dist', folder, file), 'utf8')
          for (const expression of expressionsIn(
            parse(text, { ecmaVersion: 'latest', sourceType: 'module' }),
          ))
            expressions.set(`/${expression.pattern}/${expression.flags}`, expression)
        }
      }
      const slow: unknown[] = []
      for (const [written, { pattern, flags }] of expressions) {
        const verdictOf = async (): Promise<Verdict> => check(pattern, flags, { timeout: 20_000 })
        const first = await verdictOf()
        // The fuzzer takes times, which a busy machine lengthens.
        const { status, complexity, attack } = first.status === 'safe' ? first : await verdictOf()
        if (status !== 'safe' && !bounded.has(written))
          slow.push([written, complexity?.summary ?? status, attack?.pattern])
      }
      expect(slow).toEqual([])
      expect(expressions.size).toBeGreaterThan(200)
    }, 300_000)
  },
)
