import { execFile, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'
import { programPath } from './support/installed.ts'
import { describeWith } from './support/needs.ts'
import { oneTable, startWorkers } from './support/one-table.ts'
import { freePort } from './support/ports.ts'
import { describeAll } from './support/runs.ts'
import { temporaryFolder } from './support/workshop.ts'

/** The rules and the dashboard that operators are given, against the metrics that there are, by Prometheus' own tools. */

const rulesFile = path.resolve('deploy/prometheus/alerts.yaml')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly action: string }
}

async function rules(): Promise<Rule[]> {
  const { groups } = parse(await readFile(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups.flatMap((group) => group.rules)
}

test('every alert rule states its severity, its fault and its remedy', async () => {
  for (const { alert, labels, annotations } of await rules()) {
    expect([alert, ['page', 'ticket'].includes(labels.severity)]).toEqual([alert, true])
    expect(annotations.summary.length).toBeGreaterThan(20)
    expect(annotations.action.length).toBeGreaterThan(10)
  }
})

async function dashboardQueries(): Promise<string[]> {
  const { panels } = JSON.parse(await readFile('deploy/grafana/acervo.json', 'utf8')) as {
    panels: { targets: { expr: string }[] }[]
  }
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
}

/** Names of metrics that a query has. */
function namesIn(query: string): string[] {
  return [...query.matchAll(/\b(?:acervo|process|nodejs)_[a-z_]+/g)].map(([name]) => name)
}

describeAll('with metrics of the program,', () => {
  /** Metrics of a server with two workers, and of an ingest. */
  let exposition: string

  beforeAll(async () => {
    const { folder, settings } = await oneTable('n\n1\n', ['n:integer'], {
      settings: (home) => ({ METRICS_FILE: path.join(home, 'acervo.prom') }),
    })
    const port = await freePort()
    const server = await startWorkers({ ...settings, METRICS_PORT: String(port) }, 2)
    await fetch(`http://127.0.0.1:${server.port}/nothing`)
    exposition =
      (await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()) +
      (await readFile(path.join(folder, 'acervo.prom'), 'utf8'))
  }, 60_000)

  test('every metric of the program is documented with its meaning', async () => {
    const kinds = new Map(
      [...exposition.matchAll(/^# TYPE (acervo_\w+) (\w+)$/gm)].map(([, name, kind]) => [name, kind]),
    )
    const due = [...exposition.matchAll(/^# HELP (acervo_\w+) (.*)$/gm)].map(
      ([, name = '', help = '']) => `${name} | ${kinds.get(name) ?? ''} | ${help}`,
    )
    const documented = (await readFile('docs/reference/monitoring.md', 'utf8'))
      .split('\n')
      .filter((line) => line.startsWith('| `acervo_'))
      .map((line) =>
        line
          .replaceAll('`', '')
          .replaceAll(/^\| | *\|$/g, '')
          .replaceAll(/ +\| +/g, ' | '),
      )
    expect(documented.toSorted()).toEqual(due.toSorted())
  })

  test('the program exports every metric that an alert rule or the dashboard uses', async () => {
    const there = new Set([...exposition.matchAll(/^(\w+)(?:\{.*\})? \S+$/gm)].map(([, name]) => name))
    // Nothing was asked of the scans, so that they have no samples yet, but a type.
    for (const [, name, type] of exposition.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
      for (const end of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
        there.add(`${name}${end}`)
    }
    const queries = [...(await rules()).map(({ expr }) => expr), ...(await dashboardQueries())]
    const named = new Set(queries.flatMap(namesIn))
    expect(named.size).toBeGreaterThan(25)
    expect([...named].filter((name) => !there.has(name))).toEqual([])
  })

  /** A series of samples a minute apart, as promtool writes it. */
  type Series = Readonly<Record<string, string>>

  const up = '{job="acervo",instance="a"}'

  /** Metrics without any fault, for two hours. */
  const healthy: Series = {
    [`up${up}`]: '1x120',
    [`acervo_ready${up}`]: '1x120',
    [`acervo_snapshot_age_seconds{job="acervo",instance="a",table="d/t"}`]: '60x120',
    [`acervo_refusals_total{job="acervo",instance="a",reason="too-many-requests"}`]: '0+50x120',
    [`acervo_refusals_total{job="acervo",instance="a",reason="overloaded"}`]: '0x120',
    [`acervo_refusals_total{job="acervo",instance="a",reason="internal-error"}`]: '0x120',
    [`acervo_table_faulty{job="acervo",instance="a",table="d/t"}`]: '0x120',
    [`acervo_catalog_faulty${up}`]: '0x120',
    [`acervo_table_stale{job="acervo",instance="a",table="d/t"}`]: '0x120',
    [`acervo_queue_length{job="acervo",instance="a",pool="scans"}`]: '0 40 3 0x117',
    [`acervo_event_loop_delay_seconds${up}`]: '0.02 0.9 0.02x118',
    [`acervo_worker_deaths_total${up}`]: '0x120',
    [`acervo_workers${up}`]: '4x120',
    [`acervo_workers_wanted${up}`]: '4x120',
    [`acervo_rate_limit_store_up${up}`]: '1x120',
    [`process_open_fds${up}`]: '300x120',
    [`process_max_fds${up}`]: '1024x120',
    [`acervo_ingest_failing{table="d/t"}`]: '0x120',
    [`acervo_ingest_last_run_timestamp_seconds`]: '0x120',
  }

  /** Faults, and the only alert that must fire two hours later. */
  const faults: readonly (readonly [alert: string, labels: Series, series: Series])[] = [
    ['AcervoDown', { job: 'acervo', instance: 'a' }, { [`up${up}`]: '1 0x119' }],
    ['AcervoNotReady', { job: 'acervo', instance: 'a' }, { [`acervo_ready${up}`]: '0x120' }],
    [
      'AcervoNothingPublished',
      { job: 'acervo', instance: 'a' },
      { [`acervo_snapshot_age_seconds{job="acervo",instance="a",table="d/t"}`]: '_x120' },
    ],
    [
      'AcervoFailing',
      { job: 'acervo', instance: 'a', reason: 'internal-error' },
      { [`acervo_refusals_total{job="acervo",instance="a",reason="internal-error"}`]: '0x118 1 1' },
    ],
    [
      'AcervoTableFaulty',
      { table: 'd/t' },
      { [`acervo_table_faulty{job="acervo",instance="a",table="d/t"}`]: '1x120' },
    ],
    ['AcervoCatalogFaulty', {}, { [`acervo_catalog_faulty${up}`]: '1x120' }],
    [
      'AcervoTableStale',
      { table: 'd/t' },
      { [`acervo_table_stale{job="acervo",instance="a",table="d/t"}`]: '1x120' },
    ],
    [
      'AcervoOverloaded',
      { job: 'acervo', instance: 'a', reason: 'overloaded' },
      { [`acervo_refusals_total{job="acervo",instance="a",reason="overloaded"}`]: '0+60x120' },
    ],
    [
      'AcervoQueueLong',
      { instance: 'a', pool: 'scans' },
      { [`acervo_queue_length{job="acervo",instance="a",pool="scans"}`]: '80x120' },
    ],
    [
      'AcervoEventLoopBlocked',
      { job: 'acervo', instance: 'a' },
      { [`acervo_event_loop_delay_seconds${up}`]: '0.8x120' },
    ],
    [
      'AcervoWorkerDied',
      { job: 'acervo', instance: 'a' },
      { [`acervo_worker_deaths_total${up}`]: '0x115 1x4' },
    ],
    ['AcervoWorkersMissing', { job: 'acervo', instance: 'a' }, { [`acervo_workers${up}`]: '3x120' }],
    ['AcervoLimitsApart', { job: 'acervo', instance: 'a' }, { [`acervo_rate_limit_store_up${up}`]: '0x120' }],
    ['AcervoDescriptorsLow', { job: 'acervo', instance: 'a' }, { [`process_open_fds${up}`]: '900x120' }],
    ['AcervoIngestFailing', { table: 'd/t' }, { [`acervo_ingest_failing{table="d/t"}`]: '1x120' }],
    ['AcervoIngestMissing', {}, { acervo_ingest_last_run_timestamp_seconds: '-130000x120' }],
    ['AcervoIngestUnknown', {}, { acervo_ingest_last_run_timestamp_seconds: '_x120' }],
  ]

  const promtool = programPath('promtool')
  const withPromtool = describeWith(promtool !== null, 'promtool (Debian: prometheus)')

  async function tool(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(promtool ?? '', args).catch(
      (error: unknown) => error as { stdout: string },
    )
    return stdout
  }

  withPromtool('the metrics', () => {
    test('follow the conventions of Prometheus', () => {
      const { status, stdout, stderr } = spawnSync(promtool ?? '', ['check', 'metrics'], {
        input: exposition,
        encoding: 'utf8',
      })
      expect([status, stdout, stderr]).toEqual([0, '', ''])
    })
  })

  withPromtool('the alert rules', () => {
    test('are valid, and so is the configuration of Prometheus', async () => {
      expect(await tool('check', 'rules', rulesFile)).toContain('SUCCESS')
      expect(await tool('check', 'config', 'deploy/prometheus/prometheus.yaml')).not.toContain('FAILED')
    })

    test('are all tested', async () => {
      expect(faults.map(([alert]) => alert)).toEqual((await rules()).map(({ alert }) => alert))
    })

    test.each([...faults, ['none', {}, {}] as const])(
      'fire the expected alert and no other: %s',
      async (fault, labels, series) => {
        const home = await temporaryFolder()
        const ruleList = await rules()
        const severityOf = (alert: string): string | undefined =>
          ruleList.find((rule) => rule.alert === alert)?.labels.severity
        const checks = {
          rule_files: [rulesFile],
          evaluation_interval: '1m',
          tests: [
            {
              interval: '1m',
              input_series: Object.entries({ ...healthy, ...series }).map(([name, values]) => ({
                series: name,
                values,
              })),
              alert_rule_test: ruleList.map(({ alert, annotations }) => ({
                eval_time: '2h',
                alertname: alert,
                exp_alerts:
                  alert === fault
                    ? [
                        {
                          exp_labels: { ...labels, severity: severityOf(alert) },
                          exp_annotations: filled(annotations, labels),
                        },
                      ]
                    : [],
              })),
            },
          ],
        }
        const file = path.join(home, 'checks.yaml')
        await writeFile(file, stringify(checks))
        expect(await tool('test', 'rules', file)).toContain('SUCCESS')
      },
    )
  })

  /** As Prometheus fills in the labels. */
  function filled({ summary, action }: Rule['annotations'], labels: Series): Series {
    const fill = (text: string): string =>
      text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_all, name: string) => labels[name] ?? '')
    return { summary: fill(summary), action: fill(action) }
  }
})
