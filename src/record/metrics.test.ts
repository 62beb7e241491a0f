import { describe, expect, it } from 'vitest'
import { Metrics } from './metrics.ts'

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
})
