import { expect, it } from 'vitest'
import { readCommandLine } from '../../shell/src/reader/read-command-line.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide/decide.ts'
import { explainDecision } from './describe.ts'
import type { PolicyQuestion } from './question.ts'

const question: PolicyQuestion = {
  tool: 'core/http.downloadFile',
  names: ['core/http.downloadFile'],
  groups: ['group:http'],
  capabilities: ['network', 'write:fs'],
  targets: [
    { capability: 'network', value: 'https://x.org/a' },
    { capability: 'write:fs', value: '/srv/a' },
  ],
  caller: 'direct',
  tainted: true,
}

it('tells each demand with its effect, rule, source, reason and fix', () => {
  const policy = compilePolicy({
    owner: [
      { rule: { allow: 'network', limit: { maxBytes: 9 } }, source: { file: 'tool-hub.yaml', line: 3 }, base: '/srv' },
    ],
    requests: [{ skill: 'fetcher', wants: ['network'] }],
  })
  expect(explainDecision(question, decide(policy, question))).toBe(`ask  core/http.downloadFile
  allow  network https://x.org/a
    rule: allow network (tool-hub.yaml:3)
    source: tool-hub.yaml:3 (owner)
    reason: Allowed by allow network (tool-hub.yaml:3).
  ask  write:fs /srv/a
    rule: default: a tool with capabilities asks
    source: built in (fallback)
    reason: No rule is about write:fs on this target.
    fix: Add { allow: "write:fs", on: "/srv/a" } to policy in tool-hub.yaml.
  limits: 9 bytes
  the run has read untrusted content
  skill fetcher requests network (a wish, not a grant)`)
})

it('does not let a target fake lines or turn the reading direction', () => {
  const hostile = {
    ...question,
    targets: [{ capability: 'write:fs', value: '/a\n  allow  exec\u202e\u2028x' }] as const,
  }
  const text = explainDecision(hostile, decide(compilePolicy({}), hostile))
  expect(text).not.toMatch(/[\u202e\u2028]/)
  expect(text).toContain('/a\\n  allow  exec\\u{202e}\\u{2028}x')
})

it('says which rule to change when an allow would not help', () => {
  const owner = [{ rule: { deny: 'network' }, source: { file: 'tool-hub.yaml', line: 8 }, base: '/srv' }]
  const text = explainDecision(question, decide(compilePolicy({ owner }), question))
  expect(text).toContain('fix: Remove or narrow deny network (tool-hub.yaml:8): a deny wins over every allow.')
})

it('tells which part of a command line decided', () => {
  const command = 'ls a $(rm -rf /)'
  const asked: PolicyQuestion = {
    ...question,
    capabilities: ['exec'],
    targets: [{ capability: 'exec', value: command }],
    readings: new Map([
      [command, readCommandLine(command, { cwd: '/srv', roots: ['/srv'] }, () => ({ hasError: false, names: [] }))],
    ]),
  }
  const rules = [{ deny: 'exec', on: 'rm -rf *', reason: 'Ask for a file less.' }, { allow: 'exec' }]
  const owner = rules.map((rule, index) => ({ rule, source: { file: 'tool-hub.yaml', line: index + 1 }, base: '/srv' }))
  expect(explainDecision(asked, decide(compilePolicy({ owner }), asked))).toContain(`  deny  exec ls a $(rm -rf /)
    rule: deny exec on rm -rf * (tool-hub.yaml:1)
    source: tool-hub.yaml:1 (owner)
    reason: \`rm -rf /\` inside \`$(…)\` of the second argument: Ask for a file less.`)
})
