import { describe, expect, it } from 'vitest'
import type { ApprovalRequest } from '../../../result.ts'
import { approvalForm, readApproval } from './approval-form.ts'

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
    expect(message).toMatch(/^Target: exec sh -c "echo a+…\(\d+ characters\)…a+; rm -rf ~"$/m)
    expect(message).toContain(drift)
    expect(message).toMatch(/"path":"\/etc\/passwd"/)
    expect(message).toContain('"last":"end"}')
    expect(message.length).toBeLessThan(6_000)
    expect(message).toMatch(/\nNot all of it is shown here\..* tool-hub approvals --full shows all of it\.$/)
    expect(approvalForm(REQUEST).message).not.toContain('Not all of it')
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

  it('offers to remember the tool only where its targets say all, and takes only what it offered', () => {
    const answer = { action: 'accept' as const, content: { decision: 'allow', remember: 'tool' } }
    const write = { ...REQUEST, targets: ['write:fs /srv/a'] }
    const run = { ...REQUEST, targets: ['exec ls'] }
    const offered = (request: ApprovalRequest) => approvalForm(request).requestedSchema.properties.remember
    expect(offered(write)).toMatchObject({ enum: ['once', 'session', 'tool'] })
    expect(offered(run)).toMatchObject({ enum: ['once', 'session'] })
    expect(readApproval(answer, 'anna', write)).toMatchObject({ remember: 'session', covers: 'targets' })
    expect(readApproval(answer, 'anna', run)).toEqual({ decision: 'allow', remember: 'once', by: 'anna', via: 'mcp' })
  })
})
