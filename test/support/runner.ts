import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { declareHooks } from './each-file.ts'

/** The parts of jest's test environment that are used here. */
interface Environment {
  readonly global: object
  readonly moduleMocker: {
    spyOn: (object: object, key: string) => unknown
    restoreAllMocks: () => void
  }
}

type RunFile = (
  globalConfig: { readonly seed: number },
  config: { readonly rootDir: string },
  environment: Environment & { readonly global: { readonly console: Console } },
  runtime: object,
  testPath: string,
  send: unknown,
) => Promise<unknown>

const require = createRequire(import.meta.url)
const hooks = require('node:async_hooks') as object
const original = Object.getOwnPropertyDescriptor(hooks, 'AsyncLocalStorage') ?? {}
const circus = (require('jest-circus/runner') as { readonly default: RunFile }).default

/**
 * Runs one test file, compiled by tsc, as a module of Node itself. The modules of a worker are loaded once for all its test files;
 * jest's own runtime loads the thousand modules of the server again for each file, which takes a second, and runs them slower.
 */
const runFile: RunFile = async (globalConfig, config, environment, _runtime, testPath, send) => {
  const { global, moduleMocker: mocker } = environment
  const inside = path.relative(config.rootDir, testPath).replace(/\.ts$/, '.js')
  const compiled = pathToFileURL(path.join(config.rootDir, 'dist', inside)).href
  const jest = { getSeed: () => globalConfig.seed, spyOn: mocker.spyOn.bind(mocker) }
  Object.assign(globalThis, { console: global.console, jest })
  const contexts: AsyncLocalStorage<unknown>[] = []
  class Context extends AsyncLocalStorage<unknown> {
    constructor() {
      super()
      contexts.push(this)
    }
  }
  const runtime = {
    // Loaded again for each test file, because its state holds the tests of one.
    requireInternalModule(file: string): unknown {
      delete require.cache[file]
      Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'))
      // Defined, not assigned: from Node 26.10 it is a getter.
      Object.defineProperty(hooks, 'AsyncLocalStorage', { configurable: true, value: Context })
      try {
        return require(file)
      } finally {
        Object.defineProperty(hooks, 'AsyncLocalStorage', original)
      }
    },
    requireModule: require,
    restoreAllMocks: () => mocker.restoreAllMocks(),
    setGlobalsForRuntime: () => undefined,
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
    unstable_shouldLoadAsEsm: () => true,
    async unstable_importModule(): Promise<void> {
      await import(compiled)
      declareHooks()
    },
  }
  const native = Object.assign(Object.create(environment) as typeof environment, { global: globalThis })
  try {
    return await circus(globalConfig, config, native, runtime, testPath, send)
  } finally {
    // Until Node 24 each context that is left costs time at every promise of the files that come after.
    for (const context of contexts) context.disable()
  }
}

export default runFile
