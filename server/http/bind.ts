import type { Server } from 'node:net'
import { StartError } from '../../core/errors.ts'

/**
 * @param setting that names the port
 * @throws StartError where the port is taken or the host is not ours, with a sentence
 */
export async function bind(server: Server, port: number, host: string, setting = 'PORT'): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? `the port is taken: set ${setting} to another` : cause.message
      reject(new StartError(`cannot listen on ${host}:${port}, ${why}`, { cause }))
    })
    server.listen(port, host, resolve)
  })
}
