import { createServer, type Server } from 'node:http'
import { Registry } from 'prom-client'
import type { Settings } from '../../../core/settings/read.ts'
import { bind } from '../../http/listen.ts'

/**
 * @throws StartError if the port is taken
 */
export async function listenForMetrics(
  { metricsHost: host, metricsPort: port }: Pick<Settings, 'metricsHost' | 'metricsPort'>,
  text: () => Promise<string>,
): Promise<Server> {
  const server = createServer((req, res) => {
    const isMetricsRequest = req.url === '/metrics' && (req.method === 'GET' || req.method === 'HEAD')
    res.setHeader('X-Content-Type-Options', 'nosniff')
    res.setHeader('Cache-Control', 'no-store')
    if (!isMetricsRequest) {
      res
        .writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' })
        .end('The metrics are at /metrics.\n')
      return
    }
    text().then(
      (metrics) => res.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(metrics),
      () => res.writeHead(503).end(),
    )
  })
  await bind(server, port, host, 'METRICS_PORT')
  return server
}
