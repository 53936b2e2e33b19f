import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

/** The alert rules that operators are given. */

const rulesFile = 'deploy/prometheus/alerts.yaml'

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
