/**
 * `describe` for tests that need more than Node. Skips them where it is missing; the end of the run counts them by what they need.
 * @param need the missing component, and how to have it: `redis-server (Debian: redis-server)`
 */
export function describeWith(isPresent: boolean, need: string): (title: string, body: () => void) => void {
  const suite = isPresent ? describe : describe.skip
  return (title, body) => suite(isPresent ? title : `${title} [needs ${need}]`, body)
}

/** Needs of more than one test file. */
export const pythonClients = 'the Python clients of ACERVO_CLIENTS'
export const realFiles = 'the real files of ACERVO_REAL_DATA'
export const strace = 'strace (Debian: strace)'
export const objectStore = 'versitygw, an S3 server (ACERVO_S3 or the path)'
export const clickHouse = 'ClickHouse as chdb (ACERVO_CLICKHOUSE)'
export const nginx = 'nginx and openssl (Debian: nginx, openssl)'
export const redis = 'redis-server (Debian: redis-server)'
