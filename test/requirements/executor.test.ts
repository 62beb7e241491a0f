import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type AuditEvent,
  createExecutor,
  type HandlerTool,
  type HubOptions,
  toAuditEvent,
} from '../../packages/library/src/index.ts'
import { realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A hub with its executor, and the audit log of the document. */
function withExecutor(options: HubOptions = {}, files: Readonly<Record<string, string>> = {}) {
  const opened = realHub(options, files)
  const audit: AuditEvent[] = []
  opened.hub.onRecord((line) => {
    const event = toAuditEvent(line)
    if (event) audit.push(event)
  })
  const executor = createExecutor(opened.hub)
  const execute = (name: string, args: object | string) => executor.execute({ id: 'call_1', name, arguments: args })
  return { ...opened, audit, execute }
}

describe('the executor of a tool module', () => {
  it('it runs commands in a sandbox, ends them in time and records each', async () => {
    const outside = join(temporaryFolder(), 'outside.txt')
    writeFileSync(outside, 'the secret')
    const policy = [{ allow: 'run_shell' }]
    const { hub, call, data, execute, audit, root, runs } = withExecutor({ policy }, { 'a.txt': 'inside' })
    const within = await execute('run_shell', { command: 'cat a.txt; echo made > b.txt' })
    expect(within).toEqual({ tool_call_id: 'call_1', content: 'inside', is_error: false })
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('made\n')
    const beyond = await execute('run_shell', { command: `cat ${outside}; echo x > ${outside}` })
    expect(beyond).toMatchObject({ is_error: true })
    expect(beyond.content).not.toContain('the secret')
    expect(readFileSync(outside, 'utf8')).toBe('the secret')
    expect((await data('run_shell', { command: 'true' })).sandbox).not.toBe('none')
    const slow = 'sleep 600; touch ended'
    const late = await call('run_shell', { command: slow }, { timeoutMs: 3_000 })
    expect([late.status, existsSync(join(root, 'ended'))]).toEqual(['timeout', false])
    // The time of the caller, not the 60 s of the tool.
    expect(JSON.stringify(late)).toMatch(/\b3000 ms|\b3 s\b/)
    expect(audit.map(({ type, action, result }) => [type, action, result])).toEqual([
      ['tool_executed', 'core/exec.run', 'success'],
      ['tool_executed', 'core/exec.run', 'error'],
      ['tool_executed', 'core/exec.run', 'success'],
      ['tool_executed', 'core/exec.run', 'error'],
    ])
    await hub.endRun(hub.run)
    const log = readFileSync(join(runs, hub.run, 'events.jsonl'), 'utf8')
    expect(log).toContain(slow)
  })

  it('it finds, parses, asks the gate, limits the time, runs and audits, in this order', async () => {
    const steps: string[] = []
    const greet: HandlerTool = {
      name: 'greet',
      description: 'Greets somebody.',
      parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      default_timeout: '60s',
      async handler({ signal }, { name }) {
        steps.push(`run ${name}`)
        if (name === 'nobody') throw new Error('there is nobody to greet')
        if (name === 'forever')
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        return { content: `Hi ${name}`, is_error: name === 'foe' }
      },
    }
    const { hub, execute, audit } = withExecutor({
      policy: [
        { ask: 'greet', limit: { timeoutMs: 1_000 } },
        { deny: 'run_shell', reason: 'no commands here' },
      ],
      hooks: [{ match: 'greet', decide: () => void steps.push('check') }],
      approve: ({ input }) => {
        const { name } = input as { name: string }
        steps.push(`approve ${name}`)
        if (name === 'error') throw new Error('the approver is gone')
        return { decision: name === 'stranger' ? 'deny' : 'allow' }
      },
    })
    hub.registry.register(greet)
    const codeOf = (name: string, args: object | string) => execute(name, args).then(String, ({ code }) => code)

    expect(await codeOf('greeet', {})).toBe('TOOL_NOT_FOUND')
    for (const wrong of ['{"name":', '{}', '{"name":1}'])
      expect(await codeOf('greet', wrong)).toBe('INPUT_SCHEMA_INVALID')
    expect(steps).toEqual([])

    await expect(execute('run_shell', { command: 'rm -rf /' })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
      message: expect.stringContaining('no commands here'),
    })
    expect(audit.at(-1)).toMatchObject({ type: 'policy_denied', action: 'core/exec.run', result: 'denied' })
    expect(JSON.parse(audit.at(-1)!.resource!)).toMatchObject({ command: 'rm -rf /' })

    expect(await codeOf('greet', { name: 'stranger' })).toBe('APPROVAL_DENIED')
    expect(await codeOf('greet', { name: 'error' })).toMatch(/^APPROVAL_/)
    expect(steps.splice(0)).toEqual(['check', 'approve stranger', 'check', 'approve error'])

    expect(await execute('greet', { name: 'Ada' })).toEqual({
      tool_call_id: 'call_1',
      content: 'Hi Ada',
      is_error: false,
    })
    expect(steps.splice(0)).toEqual(['check', 'approve Ada', 'run Ada'])
    expect(audit.at(-1)).toMatchObject({
      type: 'tool_executed',
      action: 'greet',
      result: 'success',
      metadata: { duration_ms: expect.any(Number) },
    })
    expect(await execute('greet', { name: 'foe' })).toMatchObject({ content: 'Hi foe', is_error: true })
    const thrown = await execute('greet', { name: 'nobody' })
    expect(thrown).toEqual({ tool_call_id: 'call_1', content: 'there is nobody to greet', is_error: true })
    expect(audit.at(-1)).toMatchObject({ type: 'tool_executed', action: 'greet', result: 'error' })
    const late = await execute('greet', { name: 'forever' })
    expect(late).toMatchObject({ is_error: true, content: expect.stringContaining('1000 ms') })
  })
})
