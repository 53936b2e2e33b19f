import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { Workshop } from '../support/workshop.ts'
import { freePort } from '../support/ports.ts'
import { serve, type Service, type ServiceOptions } from '../support/service.ts'
import { describeWith } from '../support/needs.ts'

/**
 * A real browser, headless. ACERVO_BROWSER names the program of a Chromium; without it what needs one is skipped.
 */
const program = process.env['ACERVO_BROWSER'] ?? ''
export const describeInBrowser = describeWith(program !== '', 'Chromium (ACERVO_BROWSER)')

let browser: Browser | undefined

/** Opened before the tests of a file, closed after them. */
export function withBrowser(): () => Browser {
  beforeAll(async () => {
    if (program !== '') browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
  })
  return () => {
    if (browser === undefined) throw new Error('no browser')
    return browser
  }
}

export interface Site {
  /** Without a final slash. */
  readonly base: string
  readonly service: Service
  readonly close: () => void
}

/** A service at an address that a browser can open. */
export async function site(shop: Workshop, options: ServiceOptions = {}): Promise<Site> {
  const port = await freePort()
  const base = `http://localhost:${port}`
  const service = await serve(shop, { publicUrl: new URL(base), ...options })
  const app: RequestListener = service.app
  const server = http.createServer(app).listen(port, 'localhost')
  await once(server, 'listening')
  return {
    base,
    service,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Returns faults of a page: errors, violations of the policy, requests to other hosts, dialogues. */
export function troubleOf(page: Page, base: string): string[] {
  const trouble: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') trouble.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    trouble.push(`dialogue: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!/^(blob:)?http/.test(request.url()) || !request.url().includes(base)) {
      trouble.push(`elsewhere: ${request.url()}`)
    }
  })
  return trouble
}
