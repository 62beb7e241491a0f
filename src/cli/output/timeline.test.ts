import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RecordEvent } from '../../records/log/events.ts'
import { Timeline } from './timeline.ts'

const width = vi.hoisted(() => ({ columns: Number.POSITIVE_INFINITY }))
vi.mock('./layout.ts', async (original) => ({ ...(await original<object>()), lineWidth: () => width.columns }))
afterEach(() => {
  width.columns = Number.POSITIVE_INFINITY
})

describe('the timeline of a run', () => {
  it('indents what a call did through others below its start', () => {
    const lines = tell(
      { type: 'call-started', callId: 'c1', tool: 'outer' },
      { type: 'call-started', callId: 'c2', tool: 'inner', parent: 'c1' },
      { type: 'call-ended', callId: 'c3', tool: 'innermost', parent: 'c2', status: 'ok' },
      { type: 'call-ended', callId: 'c2', tool: 'inner', status: 'ok' },
      { type: 'call-ended', callId: 'c1', tool: 'outer', status: 'ok' },
    )
    expect(lines.map(indentOf)).toEqual([0, 2, 4, 2, 0])
  })

  it('indents them above its end when it came back at once', () => {
    const lines = tell(
      { type: 'call-ended', callId: 'c2', tool: 'inner', parent: 'c1', status: 'ok' },
      { type: 'call-ended', callId: 'c1', tool: 'outer', status: 'ok' },
    )
    expect(lines.map(indentOf)).toEqual([2, 0])
  })

  it('keeps to one harmless line an event, whatever stands in a record', () => {
    const [line] = tell({
      type: 'call-ended',
      callId: 'c1',
      tool: 'a\n\u001b[2J',
      status: 'ok',
      summary: 'x'.repeat(500),
    })
    expect(line).not.toMatch(/[\n\u001b]/)
    expect(line!.length).toBeLessThan(300)
  })

  it('tells what became of commands', () => {
    const of = { callId: 'c1', tool: 'exec' }
    const process = 'calm-otter-3f2a'
    const lines = tell(
      { type: 'command-connected', ...of, url: 'https://example.org', outcome: 'refused' },
      { type: 'command-tainted', ...of, reason: '/w/page.txt' },
      { type: 'process-started', ...of, process, command: 'npm run dev' },
      { type: 'process-ended', ...of, process, exitCode: 1, timedOut: false },
      { type: 'process-ended', ...of, process, signal: 'SIGKILL', timedOut: true },
      { type: 'process-lost', process, command: 'npm run dev' },
    )
    expect(lines.map((line) => line.slice(14))).toEqual([
      'network  exec  https://example.org  refused',
      'tainted  exec  could read /w/page.txt',
      'process  exec  calm-otter-3f2a continues in the background  npm run dev',
      'process  exec  calm-otter-3f2a ended  with exit code 1',
      'process  exec  calm-otter-3f2a ended  by SIGKILL, out of time',
      'lost     calm-otter-3f2a went away with its hub  npm run dev',
    ])
  })

  it('names the worker that executed a call', () => {
    const [line] = tell({ type: 'call-ended', callId: 'c1', tool: 'build', status: 'ok', durationMs: 3, worker: 'p-7' })
    expect(line!.slice(14)).toBe('ok       build  3 ms  on worker p-7')
  })

  it('puts what has no room on a terminal below, cut at its end', () => {
    width.columns = 60
    const event = { type: 'call-started', callId: 'c1', tool: 'notes.save', rule: 'allow write:fs (a.yaml:1)' }
    const [line] = tell({ ...event, args: { text: 'x'.repeat(100) } })
    expect(line!.split('\n')).toEqual([
      '09:30:00.000  start    notes.save',
      `                       {"text":"${'x'.repeat(27)}…`,
      '                       by allow write:fs (a.yaml:1)',
    ])
  })
})

function tell(...events: readonly Record<string, unknown>[]): string[] {
  const timeline = new Timeline()
  return events.map((event) =>
    timeline.line({ durationMs: 1, ...event, time: '2026-11-15T09:30:00.000Z' } as unknown as RecordEvent),
  )
}

function indentOf(line: string): number {
  return /^\S+ {2}( *)/.exec(line)![1]!.length
}
