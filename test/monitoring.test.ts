import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import { openPostgresStore } from '@tool-hub/library/stores'
import { type RunningService, type StartedWorker, startService, startWorker } from '@tool-hub/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { eventually } from './support/eventually.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'
import { readSeries } from './support/read-series.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const rulesFile = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^ToolHub[A-Z]\w+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.strictObject({ summary: z.string(), action: z.string() }),
        }),
      ),
    }),
  ),
})
const dashboardFile = z.object({
  uid: z.string(),
  templating: z.object({ list: z.array(z.object({ name: z.string() })) }),
  panels: z.array(
    z.object({
      id: z.number(),
      type: z.enum(['row', 'stat', 'timeseries']),
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
})

const { groups } = rulesFile.parse(parse(readFileSync('deploy/monitoring/alerts.yaml', 'utf8')))
const rules = groups.flatMap((group) => group.rules)
const dashboard = dashboardFile.parse(JSON.parse(readFileSync('deploy/monitoring/dashboard.json', 'utf8')))
const targets = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, labels: labelsIn(legendFormat, /\{\{(\w+)\}\}/g) })),
)

/** What Prometheus adds to every series. */
const ADDED = ['instance', 'job']
const WORDS = /^(and|or|unless|on|by|sum|max|min|count|topk|rate|increase|delta|histogram_quantile)$/

/** The labels of each metric that a service and a worker of a cluster really have. */
const known = new Map<string, Set<string>>([['up', new Set()]])
/** Counter, gauge or histogram, by the name of the metric. */
const types = new Map<string, string>()
let database: TestPostgres
let service: RunningService
let worker: StartedWorker
const ends: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  database = await startPostgres({ tcp: true })
  const open = () => {
    const home = temporaryFolder()
    const store = openPostgresStore(database.url)
    ends.push(async () => store.close())
    const policy = [
      { allow: 'core/util.time.now', limit: { runOn: 'worker:none' } },
      { deny: 'core/util.hash.sha256Text' },
    ]
    return { store, runs: join(home, 'runs'), data: join(home, 'data'), policy }
  }
  service = await startService(open(), { port: 0, shutdownMs: 1_000 })
  ends.push(() => service.close())
  worker = await startWorker(open(), { metrics: '127.0.0.1:0', labels: ['gpu'] })
  ends.push(() => worker.close())
  const owner = createClient({ url: service.url, token: service.token })
  const budget = { calls: 100 }
  const { secret } = await owner.tokens.create({ name: 'agent', scopes: ['call'], budget })
  const agent = createClient({ url: service.url, token: secret })
  await agent.call('core/util.hash.sha256Text', { text: 'x' })
  await agent.call('core/util.hash.sha256Text', {}).catch(() => {})
  await fetch(`${service.url}/v1/me`, { headers: { authorization: 'Bearer th_wrong' } })
  const waiting = new AbortController()
  agent.call('core/util.time.now', {}, { signal: waiting.signal }).catch(() => {})
  ends.push(async () => waiting.abort())
  const headers = { authorization: `Bearer ${service.token}` }
  await eventually(async () => {
    const texts = await Promise.all([
      fetch(`${service.url}/metrics`, { headers }).then((answer) => answer.text()),
      fetch(worker.metricsUrl!).then((answer) => answer.text()),
    ])
    // A metric of which nothing was counted yet is announced without a value.
    for (const [, name, type] of texts.join('\n').matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      add(name!, [])
      types.set(name!, type!)
    }
    for (const text of texts) for (const { name, labels } of readSeries(text)) add(name, Object.keys(labels))
    for (const name of ['tool_hub_cluster_queue_waiting', 'tool_hub_disk_free_bytes', 'tool_hub_budget_used'])
      expect([name, known.get(name)?.size]).not.toEqual([name, 0])
  })
}, 180_000)
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  await database.close()
})

function add(name: string, labels: readonly string[]): void {
  const all = known.get(name) ?? new Set()
  for (const label of labels) all.add(label)
  known.set(name, all)
}

describe('the alert rules', () => {
  it('have different names', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  })

  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s uses metrics and labels that exist', (_, rule) => {
    const { summary, action } = rule.annotations
    check(rule.expr, labelsIn(summary + action, /\{\{ ?\$labels\.(\w+) ?\}\}/g))
  })
})

describe('the dashboard', () => {
  it.each(targets.map((target) => [target.title, target] as const))(
    '%s uses metrics and labels that exist',
    (_, target) => {
      check(target.expr, target.labels)
    },
  )

  it('has panels with ids of their own that do not overlap', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    for (const { id, gridPos: a } of panels) {
      expect(a.x + a.w).toBeLessThanOrEqual(24)
      const over = panels.filter(
        ({ id: other, gridPos: b }) =>
          other !== id && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h,
      )
      expect(over).toEqual([])
    }
  })
})

describe('the guides', () => {
  const pages = ['monitor', 'operate', 'run-on-many-machines'].map((page) =>
    readFileSync(`docs/guides/${page}.md`, 'utf8'),
  )
  const rows = pages.flatMap((text) => text.match(/^\| `tool_hub_.*$/gm) ?? [])
  const listed = rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`(tool_hub_[a-z_]+)(?:\{([a-z_,]+)\})?`/g)])

  it.each(listed.map(([text, name, labels = '']) => [text, name!, labels.split(',').filter(Boolean)] as const))(
    'list %s, which exists with these labels',
    (_, name, labels) => {
      // The series of a histogram have other names.
      const found = [name, `${name}_count`].flatMap((each) => [...(known.get(each) ?? [])])
      expect([...known.keys()]).toContain(name)
      expect(found).toEqual(expect.arrayContaining(labels))
    },
  )
})

it('the check of expressions finds metrics and labels that do not exist', () => {
  expect(() => check('sum(tool_hub_nothing_total)')).toThrow('tool_hub_nothing_total')
  expect(() => check('tool_hub_store_ok{colour="red"}')).toThrow('colour')
  expect(() => check('sum by (colour) (tool_hub_store_ok)')).toThrow('colour')
  expect(() => check('tool_hub_store_ok', ['colour'])).toThrow('colour')
  expect(() => check('rate(tool_hub_store_ok[5m])')).toThrow('tool_hub_store_ok')
  expect(() => check('delta(tool_hub_calls_total[5m])')).toThrow('tool_hub_calls_total')
})

function labelsIn(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, label]) => label!)
}

/** Fails if an expression names a metric or a label that is not among those of the processes. */
function check(expr: string, shown: readonly string[] = []): void {
  const used = new Set(ADDED)
  const rest = expr
    .replaceAll(/([a-z_:]\w*)\{([^}]*)\}/gi, (_, name: string, selector: string) => {
      for (const label of labelsIn(selector, /(\w+)\s*(?:=~|!~|!=|=)/g)) {
        const ofMetric = [...(known.get(name) ?? []), ...ADDED]
        expect(ofMetric, `${name} in ${expr}`).toContain(label)
      }
      return name
    })
    .replaceAll(/\b(\w+)\((\w+)\[\d+[smh]\]/g, (_, over: string, name: string) => {
      // A gauge that falls looks to `rate` and `increase` like a counter that began again.
      const isGauge = types.get(name) === 'gauge'
      expect(isGauge ? ['delta'] : ['rate', 'increase'], `${name} in ${expr}`).toContain(over)
      return `${over}(${name}`
    })
  const grouped = labelsIn(rest, /\b(?:by|on) \(([^)]*)\)/g).flatMap((list) => list.split(/,\s*/))
  const words = labelsIn(rest.replaceAll(/\b(by|on) \([^)]*\)/g, ''), /\b([a-z_]\w*)\b/gi)
  const names = words.filter((word) => !WORDS.test(word))
  expect(names.length).toBeGreaterThan(0)
  for (const name of names) {
    expect([...known.keys()], expr).toContain(name)
    for (const label of known.get(name)!) used.add(label)
  }
  for (const label of [...grouped, ...shown]) expect([...used], expr).toContain(label)
}
