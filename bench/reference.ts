import { readFileSync } from 'node:fs'
import http from 'node:http'
import express from 'express'

/**
 * Bare server for comparison, which sends stored answers by target. ANSWERS is a JSON file of the answers,
 * KIND is http or express, HEADERS=yes sends the headers of the service too.
 */
interface Stored {
  readonly target: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const { KIND, ANSWERS = '', HEADERS, PORT } = process.env
const storedAnswers = JSON.parse(readFileSync(ANSWERS, 'utf8')) as readonly Stored[]
const answers = new Map(
  storedAnswers.map(({ target, body, headers, ...rest }) => [
    target,
    { ...rest, headers: Object.entries(headers), body: Buffer.from(body, 'base64') },
  ]),
)

if (KIND === 'http') {
  http
    .createServer((req, res) => {
      const answer = answers.get(req.url ?? '')
      if (answer === undefined) {
        res.statusCode = 404
        res.end()
        return
      }
      res.statusCode = answer.status
      if (HEADERS === 'yes') for (const [name, value] of answer.headers) res.setHeader(name, value)
      else res.setHeader('Content-Type', 'application/json')
      if (answer.status !== 304) res.setHeader('Content-Length', answer.body.length)
      res.end(answer.body)
    })
    .listen(Number(PORT), '127.0.0.1')
} else {
  const app = express()
  app.disable('etag')
  app.get('/api/v1/dataset/:dataset/:table/data/', (req, res) => {
    const answer = answers.get(req.originalUrl)
    if (answer === undefined) {
      res.sendStatus(404)
      return
    }
    res.status(answer.status)
    if (HEADERS === 'yes') for (const [name, value] of answer.headers) res.setHeader(name, value)
    else res.setHeader('Content-Type', 'application/json')
    if (answer.status === 304) res.end()
    else res.send(answer.body)
  })
  app.listen(Number(PORT), '127.0.0.1')
}
