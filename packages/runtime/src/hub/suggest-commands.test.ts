import type { ApprovalReply, Rule } from '@tool-hub/core'
import { afterEach, expect, it } from 'vitest'
import { realHub } from '../../../../test/support/real-hub.ts'
import { suggestFromRuns } from './suggest.ts'

const ASKS: readonly Rule[] = [{ ask: 'exec' }]
let world: ReturnType<typeof realHub>
afterEach(() => world.hub.close({ abort: true }))

/** Records the answers of a person to commands, by the tool or by the name that models know. */
async function record(answers: readonly (readonly [string, ApprovalReply['decision']])[], policy = ASKS) {
  world = realHub({ policy, sandbox: { required: false } })
  for (const [command, decision] of answers)
    await world.call('core/exec.run', { command }, { approve: () => ({ decision, by: 'ada' }) })
  await world.hub.endRun(world.hub.run)
  return suggestFromRuns(world.hub, world.runs)
}
const allow = (...commands: string[]) => commands.map((command) => [command, 'allow'] as const)
const rulesOf = ({ rules }: Awaited<ReturnType<typeof record>>) =>
  rules.map(({ yaml, saves }) => `${saves} ${yaml.join(' + ')}`)

it('names the common first words of commands, and nothing else of the call', async () => {
  const report = await record(
    allow('npm test', 'npm test -- a', 'npm test -- b', 'npm run lint a', 'npm run lint b', 'git tag v1', 'git tag v2'),
  )
  expect(rulesOf(report)).toEqual([
    '3 { allow: "exec", on: "npm test *", when: { tainted: false } }',
    '2 { allow: "exec", on: "npm run lint *", when: { tainted: false } }',
  ])
  // An allow of `git tag *` lists tags and makes none.
  expect(report.left).toEqual([{ reason: expect.stringContaining('what they have in common'), approvals: 2 }])
})

it('names the very words of a command that is always the same, and of each part of a line', async () => {
  const report = await record(allow('npm run test', 'npm run test', 'make lint && make docs', 'make lint && make docs'))
  expect(rulesOf(report).toSorted()).toEqual([
    '2 { allow: "exec", on: "npm run test", when: { tainted: false } }',
    '2 { allow: "exec", on: ["make docs","make lint"], when: { tainted: false } }',
  ])
})

it('says nothing wider than what was seen where the second word is not what runs', async () => {
  expect(rulesOf(await record(allow('npm run build', 'npm run test', 'python3 -m a', 'python3 -m b')))).toEqual([])
})

it('is not a rule that covers a denied command, but one for the others', async () => {
  const report = await record([...allow('npm test a', 'npm test a', 'npm test b'), ['npm test prod', 'deny']])
  expect(rulesOf(report)).toEqual(['2 { allow: "exec", on: "npm test a", when: { tainted: false } }'])
  expect(report.left).toEqual([{ reason: expect.stringContaining('denied or not approved'), approvals: 1 }])
})

it('says why there is none', async () => {
  const report = await record(allow('rm -r build', 'rm -r build', 'git push', 'git push', 'make a'))
  expect(report.rules).toEqual([])
  expect(report.left).toEqual([
    { reason: expect.stringContaining('approved each time'), approvals: 4 },
    { reason: expect.stringContaining('what they have in common'), approvals: 1 },
  ])
})
