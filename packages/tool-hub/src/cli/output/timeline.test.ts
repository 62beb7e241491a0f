import { afterEach, describe, expect, it, vi } from 'vitest'
import type { RecordEvent } from '../../../../runtime/src/records/log/events.ts'
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

  it('indents them above its end if it returned immediately', () => {
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

  it('shows what a call returned behind a bar, harmless and not without end', () => {
    const of = { type: 'call-output', callId: 'c1', tool: 'core/exec.run' }
    const [few] = tell({ ...of, text: 'npm ERR!\n\u001b[2Jgone\n' })
    expect(few!.split('\n').map((line) => line.trim())).toEqual([
      expect.stringMatching(/output +core\/exec\.run/),
      '│ npm ERR!',
      '│ \\u{1b}[2Jgone',
    ])
    const [many] = tell({ ...of, text: Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n') })
    expect(many!.split('\n')).toHaveLength(42)
    expect(many).toContain('… 460 lines, see --json')
    expect(many).toContain('line 499')
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

  it('names the files that run later, and the notices of a call', () => {
    const of = { callId: 'c1', tool: 'exec' }
    const paths = Array.from({ length: 22 }, (_, number) => `/w/${number}/package.json`)
    const lines = tell(
      { type: 'run-later-changed', ...of, files: [{ path: '/w/ci.yml', by: 'a pipeline' }] },
      { type: 'call-ended', ...of, status: 'ok', notices: ['A command hid a file.', 'Look at it.'] },
      { type: 'run-closed', calls: 1, failures: 0, runLater: paths },
      { type: 'run-later-changed', ...of, files: 'odd' },
      { type: 'call-noticed', ...of, notice: 'A command hid another.' },
    )
    expect(lines.map((line) => line.slice(14))).toEqual([
      'later    exec  changed /w/ci.yml, run or obeyed later by a pipeline',
      'ok       exec  1 ms  notice: A command hid a file.  notice: Look at it.',
      `closed   1 call, 0 failed or denied  these files run by themselves and were changed:  ${paths.slice(0, 20).join('  ')}  and 2 more`,
      'later    exec',
      'notice   exec  A command hid another.',
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

it('shows a notice whole, on as many lines of a terminal as it needs', () => {
  width.columns = 60
  const notice = `A command renamed ${'a '.repeat(100)}file.`
  const [line] = tell({ type: 'call-noticed', callId: 'c1', tool: 'exec', notice })
  const lines = line!.split('\n')
  expect(
    lines
      .slice(1)
      .map((each) => each.trim())
      .join(' '),
  ).toBe(notice)
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(60)
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
