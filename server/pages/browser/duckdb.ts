import type { Runtime } from '../../routes/runtime.ts'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { hashOf } from '../../../core/warehouse/hash.ts'
import { acceptedEncodings } from '../../http/negotiation.ts'
import { sendFile, type ServedFile } from '../../http/files.ts'
import { Problem } from '../../http/problems.ts'
import type { Resource } from '../../http/resource.ts'
import { parseQuery } from '../../query/parameters.ts'

interface InstalledEngine {
  readonly folder: string
  readonly version: string
}

const installedEngine = findPackage()

function findPackage(): InstalledEngine | null {
  const require = createRequire(import.meta.url)
  try {
    const folder = path.dirname(require.resolve('@duckdb/duckdb-wasm/dist/duckdb-eh.wasm'))
    const { version } = require(path.join(folder, '../package.json')) as { version: string }
    return { folder, version }
  } catch {
    return null
  }
}

/** The Content-Security-Policy of the worker allows WebAssembly, which pages may not use. */
const files = {
  worker: {
    file: 'duckdb-browser-eh.worker.js',
    mediaType: 'text/javascript; charset=utf-8',
    policy: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
  },
  module: { file: 'duckdb-eh.wasm', mediaType: 'application/wasm', policy: "default-src 'none'" },
} as const

/**
 * Null if the package is not installed. Addresses contain its version, so that caches keep the files forever.
 */
export function engineAddresses(publicUrl: URL): Readonly<Record<keyof typeof files, string>> | null {
  if (installedEngine === null) return null
  const base = `${publicUrl.pathname.replace(/\/$/, '')}/assets/duckdb/${installedEngine.version}`
  return { worker: `${base}/${files.worker.file}`, module: `${base}/${files.module.file}` }
}

/** Compresses files to a quarter on first use; null if not installed. */
export function engineFiles(runtime: Runtime): Resource | null {
  if (installedEngine === null) return null
  const { folder, version } = installedEngine
  const { freshness, scratch } = runtime
  const compressedByFile = new Map<string, Promise<Packed>>()
  return {
    path: `/assets/duckdb/${version}/:file`,
    name: 'DuckDB',
    description: 'DuckDB for browsers.',
    countsAs: 'files',
    respond: async ({ params, target, headers, client }, req, res) => {
      parseQuery(target, [])
      const engineFile = Object.values(files).find(({ file }) => file === params['file'])
      if (engineFile === undefined) throw new Problem('unknown-address', 'There is no such file.')
      const isGzipAccepted = acceptedEncodings(headers['accept-encoding']).some(({ name }) => name === 'gzip')
      const key = `${engineFile.file} ${isGzipAccepted}`
      const preparation =
        compressedByFile.get(key) ?? prepareFile({ folder, file: engineFile.file }, isGzipAccepted, scratch)
      compressedByFile.set(key, preparation)
      preparation.catch(() => compressedByFile.delete(key))
      const servedFile: ServedFile = {
        ...(await preparation),
        ...(isGzipAccepted && { contentEncoding: 'gzip' as const }),
        mediaType: engineFile.mediaType,
        cacheControl: freshness.immutable,
        saveAs: engineFile.file,
        isUnchanged: () => true,
        onMismatch: () => compressedByFile.delete(key),
      }
      res.setHeader('Content-Security-Policy', engineFile.policy)
      // A worker needs the embedder policy of its page.
      res.setHeader('Cross-Origin-Embedder-Policy', 'require-corp')
      await sendFile(req, res, servedFile, client, runtime)
    },
  }
}

type Packed = Pick<ServedFile, 'folder' | 'file' | 'sha256'>

async function prepareFile(
  { folder: source, file }: Pick<Packed, 'folder' | 'file'>,
  mustPack: boolean,
  scratch: string,
): Promise<Packed> {
  const from = path.join(source, file)
  if (!mustPack) return { folder: source, file, sha256: await hashOf(from) }
  const folder = path.join(scratch, 'browser')
  await mkdir(folder, { recursive: true })
  const name = `${file}.gz`
  await pipeline(createReadStream(from), createGzip({ level: 6 }), createWriteStream(path.join(folder, name)))
  return { folder, file: name, sha256: await hashOf(path.join(folder, name)) }
}
