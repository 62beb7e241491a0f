import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { HubOptions } from '../../core/src/options.ts'
import type { RecordedLine } from '../../runtime/src/records/log/run-records.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import { createExecutor } from './executor.ts'
import { type AuditEvent, toAuditEvent } from './tool-events.ts'

async function open(options: HubOptions = {}) {
  const root = temporaryFolder()
  await writeFile(join(root, 'a.txt'), 'one\ntwo\n')
  const hub = testHub({ sandbox: { root }, ...options })
  onTestFinished(() => hub.close())
  const audit: AuditEvent[] = []
  hub.onRecord((line: RecordedLine) => {
    const event = toAuditEvent(line)
    if (event) audit.push(event)
  })
  return { hub, audit, executor: createExecutor(hub, { run: 'run-1', caller: 'loop' }) }
}

describe('an executor', () => {
  it('makes one call of a tool, with its arguments as the model wrote them', async () => {
    const { executor, audit } = await open()
    const call = { id: 'call_1', name: 'read_file', arguments: '{"path":"a.txt","start_line":2}' }
    const result = await executor.execute(call)
    expect(result).toMatchObject({ tool_call_id: 'call_1', is_error: false })
    expect(result.content).toMatch(/^two\b/)
    const parsed = await executor.execute({ ...call, id: 'call_2', arguments: { path: 'a.txt', start_line: 2 } })
    expect(parsed).toEqual({ ...result, tool_call_id: 'call_2' })
    expect(audit[0]).toEqual({
      type: 'tool_executed',
      action: 'core/fs.readText',
      result: 'success',
      resource: expect.any(String),
      metadata: {
        duration_ms: expect.any(Number),
        call_id: expect.any(String),
        run: 'run-1',
        time: expect.any(String),
        caller: 'loop',
        rule: expect.any(String),
      },
    })
  })

  it('answers with an error that the tool itself has met', async () => {
    const { executor, audit } = await open()
    const result = await executor.execute({ id: 'c', name: 'read_file', arguments: '{"path":"missing.txt"}' })
    expect(result).toMatchObject({ tool_call_id: 'c', is_error: true, content: expect.stringContaining('missing.txt') })
    expect(audit[0]).toMatchObject({ type: 'tool_executed', result: 'error', metadata: { error: 'NOT_FOUND' } })
  })

  it('rejects what never reached the tool: no such tool, no such arguments, no permission', async () => {
    const { executor, audit } = await open({ approve: () => ({ decision: 'deny', reason: 'not now' }) })
    const call = (name: string, args: string) => executor.execute({ id: 'c', name, arguments: args })
    const rejects = (running: Promise<unknown>, code: string) =>
      expect(running).rejects.toThrow(expect.objectContaining({ name: 'ToolError', code }))
    await rejects(call('read_fil', '{}'), 'TOOL_NOT_FOUND')
    await rejects(call('read_file', '{"path":'), 'INPUT_SCHEMA_INVALID')
    await rejects(call('read_file', '{"file":"a.txt"}'), 'INPUT_SCHEMA_INVALID')
    await rejects(call('run_shell', '{"command":"ls"}'), 'POLICY_DENIED')
    await rejects(call('write_file', '{"path":"node_modules/x.js","content":""}'), 'APPROVAL_DENIED')
    expect(audit.map(({ type, action, result }) => [type, action, result])).toEqual([
      ['tool_refused', 'read_fil', 'error'],
      ['tool_refused', 'core/fs.readText', 'error'],
      ['tool_refused', 'core/fs.readText', 'error'],
      ['policy_denied', 'core/exec.run', 'denied'],
      ['policy_denied', 'core/fs.writeText', 'denied'],
    ])
    expect(audit[3]?.resource).toBe('{"command":"ls","mergeStderr":true}')
  })

  it('says which call and which goal it is, without a run for each call', async () => {
    const sandboxRoot = temporaryFolder()
    const { hub } = await open({ sandbox: undefined, core: { sandboxRoot } })
    const seen: object[] = []
    hub.onRecord(({ run, event }) => {
      // The first line of a call has its ids.
      if (!('requestId' in event)) return
      const { requestId, goalId } = event
      seen.push({ run, requestId, goalId })
    })
    const executor = createExecutor(hub, { goalId: 'g' })
    const call = { name: 'write_file', arguments: '{"path":"a.txt","content":"x"}' }
    await executor.execute({ ...call, id: 'call_1' })
    const read = { name: 'read_file', arguments: '{"path":"a.txt"}' }
    expect(await executor.execute({ ...read, id: 'call_2' })).toMatchObject({ content: 'x' })
    await executor.execute({ ...read, id: 'call_3' }, { requestId: 'own' }).catch(() => {})
    expect(seen).toEqual([
      { run: hub.run, requestId: 'call_1', goalId: 'g' },
      { run: hub.run, requestId: 'call_2', goalId: 'g' },
      { run: 'own', requestId: 'own', goalId: 'g' },
    ])
  })

  it('takes its settings for all calls, and others for one', async () => {
    const { hub, executor } = await open()
    const runs: string[] = []
    hub.onRecord(({ run, event }) => void (event.type === 'call-ended' && runs.push(run)))
    const call = { id: 'c', name: 'read_file', arguments: '{"path":"a.txt"}' }
    await executor.execute(call)
    await executor.execute(call, { run: 'run-2' })
    expect(runs).toEqual(['run-1', 'run-2'])
    const stopped = executor.execute(call, { signal: AbortSignal.abort() })
    await expect(stopped).rejects.toThrow(expect.objectContaining({ code: 'ABORTED' }))
  })
})
