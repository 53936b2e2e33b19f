import { spawn, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile, writeFile } from 'node:fs/promises'
import type http from 'node:http'
import https from 'node:https'
import path from 'node:path'
import { programPath } from '../support/installed.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'

/** The configuration that operators are given, in a real nginx. */

const nginx = programPath('nginx')
const openssl = programPath('openssl')
export const hasNginx = nginx !== null && openssl !== null

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

export interface Proxy {
  /** Any request through it. */
  readonly ask: (
    method: string,
    address: string,
    headers: Readonly<Record<string, string>>,
    localAddress?: string,
  ) => Promise<Answer>
  /** Through it, from an address of this machine. */
  readonly get: (
    address: string,
    headers?: Readonly<Record<string, string>>,
    localAddress?: string,
  ) => Promise<Answer>
  readonly stop: () => void
}

/** Sends a request, and returns the whole answer. */
export async function answerTo(asked: http.ClientRequest): Promise<Answer> {
  asked.end()
  const [answer] = (await once(asked, 'response')) as [http.IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks).toString() }
}

/**
 * As it is given, but for the ports, the certificate and the places that need a machine of its own.
 * @param home a folder for its files
 * @param upstreams ports of servers on this machine
 * @param change a change of the configuration that a how-to describes
 */
export async function startNginx(
  home: string,
  port: number,
  upstreams: readonly number[],
  change: (configuration: string) => string = (configuration) => configuration,
): Promise<Proxy> {
  const certificate = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj']
  const keys = ['/CN=data.example.org', '-keyout', `${home}/key.pem`, '-out', `${home}/cert.pem`]
  execFileSync(openssl ?? '', [...certificate, ...keys], { stdio: 'ignore' })
  const given = await readFile('deploy/nginx/acervo.conf', 'utf8')
  // Folders that exist where nginx is installed; it creates only the last folder.
  for (const place of ['/var/lib/nginx/acervo', '/var/log/nginx/acervo.log']) {
    expect(given).toContain(place)
    await access(path.dirname(place))
  }
  const plain = await freePort()
  const configuration = change(given)
    .replaceAll('listen [::]', '# listen [::]')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    .replace(/server 127\.0\.0\.1:8000(.*;)/, (_, how: string) =>
      upstreams.map((server) => `server 127.0.0.1:${server}${how}`).join(' '),
    )
    .replace('/var/lib/nginx/acervo', `${home}/cache`)
    .replace('/var/log/nginx/acervo.log', `${home}/access.log`)
    .replace('/etc/ssl/acervo/fullchain.pem', `${home}/cert.pem`)
    .replace('/etc/ssl/acervo/privkey.pem', `${home}/key.pem`)
  await writeFile(path.join(home, 'acervo.conf'), configuration)
  await writeFile(
    path.join(home, 'nginx.conf'),
    `daemon off; pid ${home}/nginx.pid; error_log ${home}/error.log warn; user root;
     events { worker_connections 1024; }
     http { access_log off; client_body_temp_path ${home}/body; proxy_temp_path ${home}/proxy;
            fastcgi_temp_path ${home}/f; uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s;
            include ${home}/acervo.conf; }`,
  )
  execFileSync(nginx ?? '', ['-t', '-q', '-c', `${home}/nginx.conf`], { stdio: 'pipe' })
  const child = spawn(nginx ?? '', ['-c', `${home}/nginx.conf`], { stdio: 'ignore' })
  const ask: Proxy['ask'] = async (method, address, headers, localAddress = '127.0.0.1') => {
    const asked = https.request({
      method,
      host: '127.0.0.1',
      port,
      path: address,
      localAddress,
      rejectUnauthorized: false,
      agent: false,
      headers: { Host: 'data.example.org', ...headers },
    })
    return answerTo(asked)
  }
  const get: Proxy['get'] = (address, headers = {}, localAddress) =>
    ask('GET', address, headers, localAddress)
  await until(() =>
    get('/livez').then(
      () => true,
      () => false,
    ),
  )
  return { ask, get, stop: () => child.kill('SIGQUIT') }
}
