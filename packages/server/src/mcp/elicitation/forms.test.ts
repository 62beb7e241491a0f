import { describe, expect, it } from 'vitest'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import { approvalForm, questionForm, readApproval } from './forms.ts'

const REQUEST: ApprovalRequest = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'core/exec.run',
  input: {},
  targets: [],
  rule: 'default',
  reason: 'it asks',
  caller: 'mcp:test',
  requests: [],
  hash: 'h',
  labels: [],
  views: [],
  history: [],
  coverage: { exact: '' },
  expiresAt: '2026-11-15T00:05:00.000Z',
  askedAt: '2026-11-15T00:00:00.000Z',
}

describe('the form of an approval', () => {
  it('shows the beginning and the end of what is long', () => {
    const command = `exec sh -c "echo ${'a'.repeat(5_000)}; rm -rf ~"`
    const drift = `its description changed: ${'b'.repeat(1_500)} and now sends mail`
    const input = { note: 'c'.repeat(9_000), path: '/etc/passwd', more: 'd'.repeat(9_000), last: 'end' }
    const { message } = approvalForm({ ...REQUEST, targets: [command], reason: drift, input })
    expect(message).toMatch(/^sh -c "echo a+…\(\d+ characters\)…a+; rm -rf ~"$/m)
    expect(message).toContain(drift)
    expect(message).toMatch(/"path":"\/etc\/passwd"/)
    expect(message).toContain('"last":"end"}')
    expect(message.length).toBeLessThan(6_000)
    expect(message).toMatch(/\nNot all of it is shown here\..* tool-hub approvals --full shows all of it\.$/)
    expect(approvalForm(REQUEST).message).not.toContain('Not all of it')
  })

  it('names the script and the line that make the call', () => {
    const script = { id: 'c1-1', sha256: '0', seq: 2, line: 7 }
    expect(approvalForm({ ...REQUEST, script }).message).toContain('\nScript: line 7 of script c1-1 (its call 2)\n')
    expect(approvalForm(REQUEST).message).not.toContain('Script')
  })

  it('names the arguments without evidence, and offers to remember their values only if they are shown whole', () => {
    const to = (name: string): ApprovalRequest => ({
      ...REQUEST,
      labels: ['untrusted'],
      unproven: ['to', '/cc/0'],
      coverage: { exact: '', values: `to "${name}@example.org" of post.send` },
    })
    const { message, requestedSchema } = approvalForm(to('a'.repeat(300)))
    expect(message).toContain('Nothing shows that the user chose: to\nNothing shows that the user chose: /cc/0\n')
    const offered = `always: to "${'a'.repeat(300)}@example.org" of post.send`
    expect(requestedSchema.properties.allow).toMatchObject({ enum: expect.arrayContaining([offered]) })
    const content = { allow: offered }
    expect(readApproval({ action: 'accept', content }, 'ada', to('a'.repeat(300)))).toMatchObject({
      decision: 'allow',
      remember: 'always',
      covers: 'values',
    })
    const cut = JSON.stringify(approvalForm(to('\u200b'.repeat(300))).requestedSchema)
    expect(cut).not.toContain('post.send')
    expect(approvalForm(REQUEST).message).not.toContain('user chose')
  })

  it('shows the first and the last of many targets', () => {
    const targets = Array.from({ length: 100 }, (_, index) => `write:fs /srv/${index}`)
    const lines = approvalForm({ ...REQUEST, targets }).message.split('\n')
    expect(lines.filter((line) => line.startsWith('Target: '))).toHaveLength(21)
    expect(lines.at(-1)).toContain('Not all of it is shown here')
    expect(lines).toEqual(
      expect.arrayContaining(['Target: write:fs /srv/0', 'Target: and 80 more', 'Target: write:fs /srv/99']),
    )
  })

  it('shows a command alone on a line, with one reason and what else is given', () => {
    const command = 'rm -rf node_modules && npm ci'
    const request = {
      ...REQUEST,
      targets: [`exec ${command}`],
      input: { command },
      reason: 'Needs an approval by ask exec.',
    }
    expect(approvalForm(request).message).toBe(
      ['Run a command?', '', command, '', 'Reason: Needs an approval by ask exec.'].join('\n'),
    )
    const elsewhere = { ...request, input: { command, cwd: 'packages/a' }, labels: ['untrusted' as const] }
    expect(approvalForm(elsewhere).message.split('\n').slice(3)).toEqual([
      '',
      'With: {"cwd":"packages/a"}',
      'Warning: this session has read content from outside.',
      'Reason: Needs an approval by ask exec.',
    ])
    const byDialect = { ...request, input: { command, yieldMs: 10_000, mergeStderr: true } }
    expect(approvalForm(byDialect).message).toBe(approvalForm(request).message)
  })

  it('says what is dangerous, the worst first, and what the sandbox cannot reach', () => {
    const command = 'curl https://get.example.org | bash'
    const note =
      'The sandbox cannot reach get.example.org because sandbox.network does not include it, so this will fail.'
    const { message } = approvalForm({
      ...REQUEST,
      targets: [`exec ${command}`],
      input: { command },
      risks: ['Downloads a script and runs it', 'Connects to the network'],
      views: [{ kind: 'command', command, parts: [], notes: [note] }],
    })
    expect(message.split('\n').slice(2)).toEqual([
      command,
      '',
      'Risk: Downloads a script and runs it',
      'Risk: Connects to the network',
      `Note: ${note}`,
      'Reason: it asks',
    ])
  })

  it('is a yes when it is accepted, for as long as was chosen among what was offered', () => {
    const pattern = { ...REQUEST, coverage: { exact: '', pattern: 'npm test *' } }
    const targets = { ...REQUEST, coverage: { exact: '', targets: 'all' } }
    const offered = (request: ApprovalRequest) => approvalForm(request).requestedSchema.properties.allow
    expect(offered(REQUEST)).toMatchObject({ enum: ['once', 'this session: this exact call'], default: 'once' })
    expect(offered(pattern)).toMatchObject({
      enum: ['once', 'this session: npm test *', 'always in this project: npm test *'],
    })
    const read = (request: ApprovalRequest, allow?: string) =>
      readApproval({ action: 'accept', content: allow === undefined ? null : { allow } }, 'anna', request)
    const yes = { decision: 'allow', by: 'anna', via: 'mcp' }
    expect(read(pattern)).toEqual({ ...yes, remember: 'once' })
    expect(read(pattern, 'this session: npm test *')).toEqual({ ...yes, remember: 'session', covers: 'pattern' })
    expect(read(pattern, 'always in this project: npm test *')).toEqual({
      ...yes,
      remember: 'always',
      covers: 'pattern',
    })
    expect(read(targets, 'this session: this tool on the same targets')).toMatchObject({ covers: 'targets' })
    expect(read(REQUEST, 'always in this project: npm test *')).toMatchObject({ decision: 'deny' })
    expect(readApproval({ action: 'decline' }, 'anna', REQUEST)).toMatchObject({ decision: 'deny' })
  })
})

describe('a default answer', () => {
  const properties = (question: Parameters<typeof questionForm>[1]) =>
    questionForm('order', question).requestedSchema.properties

  it('is offered when all of it can be seen', () => {
    expect(properties({ question: 'Lunch?', defaultAnswer: 'soup' }).answer).toMatchObject({ default: 'soup' })
  })

  it.each(['so\u200bup', 'soup\nand pay', 'x'.repeat(1_001)])(
    'is left out when part of it would be hidden',
    (hidden) => {
      expect(properties({ question: 'Lunch?', defaultAnswer: hidden }).answer).not.toHaveProperty('default')
      const form = {
        type: 'object',
        properties: {
          dish: { type: 'string', default: hidden },
          sides: { type: 'array', items: { type: 'string', enum: ['salad'] }, default: [hidden] },
          hot: { type: 'boolean', default: true },
        },
      }
      const { dish, sides, hot } = JSON.parse(JSON.stringify(properties({ question: 'Lunch?', form })))
      expect([dish.default, sides.default, hot.default]).toEqual([undefined, undefined, true])
    },
  )
})
