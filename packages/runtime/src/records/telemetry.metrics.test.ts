import { describe, expect, it } from 'vitest'
import { Metrics } from './telemetry.ts'

describe('Metrics', () => {
  it('counts calls by tool and status, with durations and sizes', () => {
    const metrics = new Metrics()
    metrics.record({ tool: 'a', status: 'ok', durationMs: 2, bytes: 50 })
    metrics.record({ tool: 'a', status: 'ok', durationMs: 200, bytes: 5_000 })
    metrics.record({ tool: 'a', status: 'denied', durationMs: 0, bytes: 0 })
    metrics.inFlight = 3
    const { inFlight, tools } = metrics.snapshot()
    expect(inFlight).toBe(3)
    expect(tools).toHaveLength(1)
    expect(tools[0]).toMatchObject({ tool: 'a', statuses: { ok: 2, denied: 1 } })
    expect(tools[0]!.durationSeconds.sum).toBeCloseTo(0.202)
    expect(tools[0]!.resultBytes.counts).toEqual([2, 0, 1, 0, 0, 0, 0])
  })

  it('speaks the text format of Prometheus', async () => {
    const metrics = new Metrics()
    metrics.record({ tool: 'core/fs.readText', status: 'ok', durationMs: 2, bytes: 50 })
    metrics.record({ tool: 'say "hi"\n', status: 'error', durationMs: 90_000, bytes: 1e9 })
    metrics.inFlight = 1
    const text = await metrics.prometheus()
    expect(text).toContain('# TYPE tool_hub_calls_total counter')
    expect(text).toContain('tool_hub_calls_total{tool="core/fs.readText",status="ok"} 1')
    expect(text).toContain('tool_hub_calls_total{tool="say \\"hi\\"\\n",status="error"} 1')
    expect(text).toContain('tool_hub_calls_in_flight 1')
    expect(text).toContain('# TYPE tool_hub_call_duration_seconds histogram')
    expect(text).toContain('tool_hub_call_duration_seconds_bucket{le="0.001",tool="core/fs.readText"} 0')
    expect(text).toContain('tool_hub_call_duration_seconds_bucket{le="0.005",tool="core/fs.readText"} 1')
    expect(text).toContain('tool_hub_call_duration_seconds_bucket{le="+Inf",tool="say \\"hi\\"\\n"} 1')
    expect(text).toContain('tool_hub_call_duration_seconds_count{tool="core/fs.readText"} 1')
    expect(text).toContain('tool_hub_result_bytes_sum{tool="core/fs.readText"} 50')
  })

  it('speaks it also before the first call', async () => {
    expect(await new Metrics().prometheus()).toContain('tool_hub_calls_in_flight 0')
  })

  it('stays bounded whatever the names, and survives numbers that are none', () => {
    const metrics = new Metrics()
    for (let index = 0; index < 5_000; index++)
      metrics.record({ tool: `t${index}`, status: 'ok', durationMs: 1, bytes: 1 })
    for (let index = 0; index < 100; index++)
      metrics.record({ tool: 't0', status: `s${index}`, durationMs: Number.NaN, bytes: 1 })
    const { tools } = metrics.snapshot()
    expect(tools).toHaveLength(1_001)
    expect(tools.at(-1)).toMatchObject({ tool: 'other', statuses: { ok: 4_000 } })
    expect(Object.keys(tools[0]!.statuses).length).toBeLessThanOrEqual(17)
    expect(tools[0]!.durationSeconds.sum).toBeCloseTo(0.001)
  })

  it('counts what is at a bound with those below it, for every bound', () => {
    const seconds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]
    const bytes = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]
    const metrics = new Metrics()
    for (const second of seconds) metrics.record({ tool: 'a', status: 'ok', durationMs: second * 1_000, bytes: 1 })
    for (const size of bytes) metrics.record({ tool: 'b', status: 'ok', durationMs: 1, bytes: size })
    for (const size of bytes) metrics.record({ tool: 'c', status: 'ok', durationMs: 61_000, bytes: size + 1 })
    const [a, b, c] = metrics.snapshot().tools
    expect(a!.durationSeconds).toEqual({
      bounds: seconds,
      counts: [...seconds.map(() => 1), 0],
      sum: expect.closeTo(76.6666),
    })
    expect(b!.resultBytes).toEqual({ bounds: bytes, counts: [...bytes.map(() => 1), 0], sum: 11_111_100 })
    expect(c!.resultBytes.counts).toEqual([0, 1, 1, 1, 1, 1, 1])
    expect(c!.durationSeconds.counts.at(-1)).toBe(6)
    metrics.record({ tool: 'a', status: 'ok', durationMs: 1, bytes: 1 })
    // A snapshot is a copy.
    expect([a!.durationSeconds.counts[2], a!.resultBytes.counts[0], a!.statuses.ok]).toEqual([1, 12, 12])
  })

  it('names up to a thousand tools and sixteen statuses of each', () => {
    const metrics = new Metrics()
    const record = (tool: string, status: string) => metrics.record({ tool, status, durationMs: 1, bytes: 1 })
    for (let index = 0; index < 999; index++) record(`t${index}`, 'ok')
    record('other', 'ok')
    record('t1000', 'ok')
    expect(metrics.snapshot().tools).toHaveLength(1_000)
    expect(metrics.snapshot().tools.at(-1)).toMatchObject({ tool: 'other', statuses: { ok: 2 } })
    for (let index = 1; index < 18; index++) record('t0', `s${index}`)
    record('t0', 's1')
    const names = Array.from({ length: 15 }, (_, index) => [`s${index + 1}`, index === 0 ? 2 : 1])
    expect(metrics.snapshot().tools[0]!.statuses).toEqual({ ok: 1, ...Object.fromEntries(names), other: 2 })
  })

  it('writes all of it for Prometheus', async () => {
    const metrics = new Metrics()
    metrics.record({ tool: 't', status: 'ok', durationMs: 2_000, bytes: 5_000 })
    metrics.record({ tool: 't', status: 'ok', durationMs: 2_000, bytes: 50 })
    metrics.inFlight = 2
    const buckets = (name: string, counts: ReadonlyArray<readonly [string, number]>) =>
      counts.map(([le, count]) => `${name}_bucket{le="${le}",tool="t"} ${count}`)
    const none = ['0.0001', '0.0005', '0.001', '0.005', '0.01', '0.05', '0.1', '0.5', '1'].map((le) => [le, 0] as const)
    expect((await metrics.prometheus()).trim().split(/\n+/)).toEqual([
      '# HELP tool_hub_calls_total Calls that ended, by tool and status.',
      '# TYPE tool_hub_calls_total counter',
      'tool_hub_calls_total{tool="t",status="ok"} 2',
      '# HELP tool_hub_calls_in_flight Calls that have begun and not ended.',
      '# TYPE tool_hub_calls_in_flight gauge',
      'tool_hub_calls_in_flight 2',
      '# HELP tool_hub_call_duration_seconds Duration of calls.',
      '# TYPE tool_hub_call_duration_seconds histogram',
      ...buckets('tool_hub_call_duration_seconds', [...none, ['5', 2], ['10', 2], ['60', 2], ['+Inf', 2]]),
      'tool_hub_call_duration_seconds_sum{tool="t"} 4',
      'tool_hub_call_duration_seconds_count{tool="t"} 2',
      '# HELP tool_hub_result_bytes Size of results.',
      '# TYPE tool_hub_result_bytes histogram',
      ...buckets('tool_hub_result_bytes', [
        ['100', 1],
        ['1000', 1],
        ...['10000', '100000', '1000000', '10000000', '+Inf'].map((le) => [le, 2] as const),
      ]),
      'tool_hub_result_bytes_sum{tool="t"} 5050',
      'tool_hub_result_bytes_count{tool="t"} 2',
    ])
  })
})
