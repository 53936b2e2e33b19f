import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { endWithTests } from './ending.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { temporaryFolder } from '../support/workshop.ts'

/** ACERVO_S3 names versitygw, a server of S3 over a folder. */
const program = process.env['ACERVO_S3'] ?? 'versitygw'

export const hasObjectStore = spawnSync(program, ['--version']).status === 0

const bucket = 'warehouse'
let buckets = 0

export interface ObjectStore {
  readonly endpoint: string
  /** Environment for programs. */
  readonly environment: Record<string, string>
  /** Returns an address for another warehouse. */
  readonly address: () => string
  /** Folder of this machine with the objects of an address. */
  readonly folderOf: (address: string) => string
  /** Process id. */
  readonly pid: number
}

/** A server of S3 for the tests of a file. */
export async function startObjectStore(): Promise<ObjectStore> {
  const folder = await temporaryFolder()
  mkdirSync(path.join(folder, bucket))
  const port = await freePort()
  const keys = { AWS_ACCESS_KEY_ID: 'acervo', AWS_SECRET_ACCESS_KEY: 'not-a-secret' }
  const server = spawn(program, ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder], {
    env: {
      ...process.env,
      ROOT_ACCESS_KEY: keys.AWS_ACCESS_KEY_ID,
      ROOT_SECRET_KEY: keys.AWS_SECRET_ACCESS_KEY,
    },
    stdio: 'ignore',
  })
  endWithTests(server)
  const endpoint = `http://127.0.0.1:${port}`
  await until(async () => {
    const answer = await fetch(endpoint).catch(() => null)
    return answer !== null
  })
  return {
    endpoint,
    environment: { ...keys, AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: 'us-east-1' },
    address: () => `s3://${bucket}/${(buckets += 1)}`,
    folderOf: (address) => path.join(folder, address.slice('s3://'.length)),
    pid: server.pid ?? 0,
  }
}
