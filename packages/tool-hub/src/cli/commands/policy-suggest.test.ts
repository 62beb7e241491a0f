import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'
import { ended, started } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import type { ApprovalAnswered } from '../../../../runtime/src/records/log/events.ts'
import { RunRecords } from '../../../../runtime/src/records/log/run-records.ts'

const folder = cliFolder()
const empty = cliFolder()
const broken = cliFolder()
afterAll(() => {
  for (const each of [folder, empty, broken]) each.remove()
})

/** Records calls of test/note, with what a person answered. */
async function record(root: string, calls: readonly (readonly [string, ApprovalAnswered['decision']])[]) {
  const records = RunRecords.open(join(root, 'runs'), 'past-run', { durability: 'behind', clock: systemClock })
  for (const [index, [path, decision]] of calls.entries()) {
    const of = { callId: `c-${index + 1}`, tool: 'test/note' }
    records.append({ type: 'approval-answered', ...of, approval: `a-${index}`, decision, by: 'ada' })
    const facts = { tool: of.tool, caller: 'ada', effect: 'ask', args: { path, text: `note ${index}` } } as const
    if (decision === 'allow') records.append(started(of.callId, facts))
    const end = decision === 'allow' ? { tool: of.tool } : { ...facts, status: 'denied' as const }
    records.append(ended(of.callId, end))
  }
  await records.close()
}

beforeAll(async () => {
  await record(folder.path, [
    ['todo.md', 'allow'],
    ['todo.md', 'allow'],
    ['plan.md', 'allow'],
    ['secret.md', 'deny'],
  ])
  await record(broken.path, [['todo.md', 'allow']])
  appendFileSync(join(broken.path, 'runs', 'past-run', 'events.jsonl'), 'no event\n')
})

it('prints rules to paste, what they save, and in which calls', async () => {
  const { code, stdout, stderr } = await folder.run(['policy', 'suggest', '--since', '7d'])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: [
      '  # saves 2 approvals: past-run c-1, past-run c-2',
      '  # does not restrict: text',
      '  - { allow: "test/note", where: { path: "todo.md" }, when: { tainted: false } }',
      '',
    ].join('\n'),
  })
  expect(stderr).toBe(
    '1 rule, together saving 2 of 3 approvals of the last 7d\n' +
      '1 approval without a rule: no rule can name what they have in common with another approved call.\n',
  )
})

it('is taken by the config as it is, and then saves what it says', async () => {
  const { stdout } = await folder.run(['policy', 'suggest'])
  const policy = `policy:\n  - { ask: test/note }\n${stdout}`
  const next = folder.write('next.yaml', `version: 1\nplugins: [./plugin.mjs]\n${policy}`)
  const explained = (path: string) =>
    folder.run(['policy', 'explain', 'test/note', JSON.stringify({ path, text: 'x' }), '--json', '--config', next])
  const effects = await Promise.all(
    ['todo.md', 'plan.md'].map(async (path) => JSON.parse((await explained(path)).stdout)),
  )
  expect(effects.map(({ effect }) => effect)).toEqual(['allow', 'ask'])
})

it('prints the same as JSON', async () => {
  const { stdout } = await folder.run(['policy', 'suggest', '--json'])
  expect(JSON.parse(stdout)).toEqual({
    rules: [
      {
        rule: { allow: 'test/note', where: { path: 'todo.md' }, when: { tainted: false } },
        also: [],
        yaml: ['{ allow: "test/note", where: { path: "todo.md" }, when: { tainted: false } }'],
        saves: 2,
        calls: [
          { run: 'past-run', callId: 'c-1' },
          { run: 'past-run', callId: 'c-2' },
        ],
        open: ['text'],
      },
    ],
    withheld: [],
    left: [{ reason: expect.stringContaining('have in common'), approvals: 1 }],
    runs: 1,
    calls: 4,
    approvals: 3,
    unreadable: [],
  })
})

it('says what is missing: runs, approvals, two of a kind, readable records', async () => {
  const none = await empty.run(['policy', 'suggest'])
  expect(none).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^There are no runs in .*runs\.\n$/),
  })
  await record(empty.path, [['a.md', 'deny']])
  expect((await empty.run(['policy', 'suggest'])).stderr).toMatch(/^No approvals are recorded in /)
  const one = await broken.run(['policy', 'suggest'])
  expect(one).toMatchObject({ code: 1, stdout: '' })
  expect(one.stderr).toMatch(
    /^past-run: 1 of its lines cannot be read\. .*\nNo rule would safely have saved two or more/,
  )
  expect(await empty.run(['policy', 'suggest', '--since', 'soon'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--since "soon" is not a time.'),
  })
})
