import { describe, expect, it } from 'vitest'
import { type ToolEvent, toToolEvents } from '../../src/index.ts'
import { realHub } from '../support/real-hub.ts'

describe('the tool system of toolsets', () => {
  it('S4-17 a call is permitted, then tool.started, then tool.completed or tool.failed with a summary', async () => {
    const { hub, call, record } = realHub({}, { 'a.txt': 'hello' })
    const live: ToolEvent[] = []
    hub.onEvent((event) => live.push(...toToolEvents(event)))
    const written = await call('write_file', { path: 'b.txt', content: 'x' })
    await call('read_file', { path: 'a.txt' })
    await call('read_file', { path: 'missing.txt' })
    // Not permitted, so never started.
    await call('run_shell', { command: 'ls' })
    const names = (events: readonly ToolEvent[]) => events.map(({ type, tool }) => `${type} ${tool}`)
    expect(names(live)).toEqual([
      'tool.started core/fs.writeText',
      'tool.completed core/fs.writeText',
      'tool.started core/fs.readText',
      'tool.completed core/fs.readText',
      'tool.started core/fs.readText',
      'tool.failed core/fs.readText',
      'tool.failed core/exec.run',
    ])
    expect(live[1]).toMatchObject({ callId: written.callId, status: 'ok', summary: written.summary })
    expect(live[5]).toMatchObject({ status: 'error', error: { code: 'NOT_FOUND' } })
    expect(live[6]).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' } })
    const recorded = (await record('events.jsonl')).flatMap((line) => toToolEvents(line as never))
    expect(names(recorded)).toEqual(names(live))
  })
})
