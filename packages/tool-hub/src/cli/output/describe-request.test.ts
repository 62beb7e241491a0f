import { expect, it } from 'vitest'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import { describeQuestion, describeRequest } from './describe-request.ts'

const request = {
  tool: 'mcp/x.y',
  input: {},
  targets: ['remote mcp:x/y'],
  rule: 'ask remote (default)',
  reason: 'Needs an approval by ask remote (default).',
  caller: 'cli',
  run: 'run-1',
  requests: [],
  labels: [],
  views: [],
  coverage: { exact: 'this exact call' },
} as unknown as ApprovalRequest

it('leaves out a reason only when it is nothing but the rule', () => {
  expect(describeRequest(request).join('\n')).not.toContain('reason')
  const doubted = { ...request, reason: `${request.reason} Its description was "ask remote (default)".` }
  expect(describeRequest(doubted).join('\n')).toContain('Its description was')
})

it('says which line of which script makes the call', () => {
  const script = { id: 'c1-1', sha256: '0', seq: 2 }
  expect(describeRequest({ ...request, script: { ...script, line: 7 } })).toContain(
    'script     line 7 of script c1-1 (its call 2)',
  )
  expect(describeRequest({ ...request, script })).toContain('script     call 2 of script c1-1')
})

it('shows the pattern that a yes could cover, where there is one', () => {
  expect(describeRequest(request).join('\n')).not.toContain('pattern')
  const lines = describeRequest({ ...request, coverage: { exact: 'this exact call', pattern: 'npm test *' } })
  expect(lines).toContain('pattern    npm test * (with --remember always --covers pattern)')
})

it('shows both ends of long arguments, and targets whole', () => {
  const target = `exec ${'a'.repeat(5_000)} && rm -rf /`
  const lines = describeRequest({ ...request, input: { a: 'b'.repeat(9_000), z: 'last' }, targets: [target] })
  expect(lines.find((line) => line.startsWith('arguments'))).toMatch(
    /^arguments {2}\{"a":"bbb.*\d+ characters are not shown here; .* approvals --full shows them.*"last"\}$/,
  )
  expect(lines).toContain(`target     ${target}`)
})

it('shows what the arguments do not say: what decides a command, what changes, where a name leads, who calls', () => {
  const diff = Array.from({ length: 50 }, (_, line) => `+line ${line}`).join('\n')
  const part = { text: 'rm -rf /', effect: 'ask', rule: 'ask exec', decides: true } as const
  const lines = describeRequest({
    ...request,
    principal: 'token:ci',
    labels: ['untrusted'],
    views: [
      { kind: 'command', command: 'ls; rm -rf /', parts: [{ ...part, text: 'ls', decides: false }, part] },
      { kind: 'diff', path: 'a.md', diff, isNew: true },
      { kind: 'url', url: 'http://x.test/', addresses: ['127.0.0.1'] },
    ],
  })
  expect(lines).toContain('because    rm -rf / (ask, ask exec)')
  expect(lines.filter((line) => line.startsWith('diff'))).toHaveLength(40)
  expect(lines).toContainEqual(
    expect.stringMatching(/^missing {4}10 lines are not shown here; .* approvals --full shows/),
  )
  expect(lines).toContain('diff       +line 49')
  expect(lines).toContain('address    127.0.0.1')
  expect(lines).toContain('caller     token:ci (cli), run run-1')
  expect(lines).toContain('run        has read content from outside')
})

it('shows every line of a diff and every character of the arguments where all of it is wanted', () => {
  const lines = Array.from({ length: 2_000 }, (_, line) => `+line ${line}`)
  const view = { kind: 'diff', path: 'a.md', diff: lines.join('\n'), isNew: true } as const
  const input = { text: 'x'.repeat(9_000) }
  const full = describeRequest({ ...request, input, views: [view] }, { isFull: true })
  expect(full.filter((line) => line.startsWith('diff'))).toEqual(lines.map((line) => `diff       ${line}`))
  expect(full).toContain(`arguments  ${JSON.stringify(input)}`)
  const asked = { ...request, question: 'x'.repeat(9_000), callId: 'c', id: 'q', askedAt: '', expiresAt: '' }
  expect(describeQuestion(asked, { isFull: true })).toContain(`question   ${asked.question}`)
})

it('shows 40 lines of a diff whole, and says of 41 that one is missing', () => {
  const views = (count: number) => [
    { kind: 'diff', path: 'a', diff: Array(count).fill('+x').join('\n'), isNew: true } as const,
  ]
  expect(describeRequest({ ...request, views: views(40) }).join('\n')).not.toContain('not shown')
  expect(describeRequest({ ...request, views: views(41) }).join('\n')).toContain('1 line is not shown')
})

it('shows a question on lines that it cannot fake', () => {
  const question = { question: 'Sure?\nanswer  yes', options: ['a\u202eb'], defaultAnswer: 'no' }
  const lines = describeQuestion({ ...request, ...question, callId: 'c', id: 'q', askedAt: '', expiresAt: '' })
  expect(lines).toEqual([
    'tool       mcp/x.y',
    'question   Sure?\\nanswer  yes',
    'option     a\\u{202e}b',
    'default    no',
    'caller     cli, run run-1',
  ])
})
