import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../packages/core/src/tool.ts'
import { type RunningService, startService } from '../packages/server/src/start-service.ts'
import { eventually } from './support/eventually.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const services: RunningService[] = []
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()))
})

const act = defineTool({
  name: 'test.act',
  description: 'Acts.',
  input: z.strictObject({}),
  capabilities: ['remote'],
  execute: () => 'done',
})

async function start() {
  const home = temporaryFolder()
  const service = await startService(
    {
      tools: [act],
      runs: join(home, 'runs'),
      data: join(home, 'data'),
      policy: [{ ask: 'test.act' }, { deny: 'core/util.hash.sha256Text' }],
    },
    { port: 0, shutdownMs: 1_000 },
  )
  services.push(service)
  const owner = createClient({ url: service.url, token: service.token })
  const { secret } = await owner.tokens.create({
    name: 'agent',
    scopes: ['call'],
    budget: { calls: 100, wallMs: 600_000 },
  })
  const metrics = async () => {
    const answer = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${service.token}` } })
    return answer.text()
  }
  return { service, owner, agent: createClient({ url: service.url, token: secret }), metrics }
}

it('health and /metrics tell denials, people who think, and budgets apart from failures of tools', async () => {
  const { owner, agent, metrics } = await start()
  expect(await agent.call('core/util.hash.sha256Text', { text: 'x' })).toMatchObject({ status: 'denied' })
  const asking = agent.call('core/ask.user', { question: 'Which one?' })
  const question = await eventually(async () => {
    const [found] = await owner.questions.list()
    expect(found).toBeDefined()
    return found!
  })
  const approving = agent.call('test.act', {})
  const approval = await eventually(async () => {
    const [found] = await owner.approvals.list()
    expect(found).toBeDefined()
    return found!
  })
  const during = await metrics()
  expect(during).toMatch(/^tool_hub_approvals_pending 1$/m)
  expect(during).toMatch(/^tool_hub_questions_pending 1$/m)
  expect(during).toMatch(/^tool_hub_approval_oldest_seconds \d/m)
  // The person takes a while, and more than the tools do.
  const since = Date.now()
  await eventually(() => expect(Date.now() - since).toBeGreaterThan(1_500))
  await owner.questions.answer(question.id, { answer: 'this one' })
  await owner.approvals.answer(approval.id, { decision: 'allow' })
  expect(await asking).toMatchObject({ ok: true })
  expect(await approving).toMatchObject({ ok: true })

  const text = await metrics()
  expect(text).toMatch(/^tool_hub_approvals_pending 0$/m)
  expect(text).toMatch(/^tool_hub_decisions_total\{rule="[^"]*core\/util\.hash\.sha256Text[^"]*",decision="deny"\} 1$/m)
  expect(text).toMatch(/^tool_hub_budget_used\{account="token:agent",unit="calls"\} \d+$/m)
  expect(text).toMatch(/^tool_hub_budget_limit\{account="token:agent",unit="calls"\} 100$/m)
  expect(Number(/^tool_hub_store_bytes (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(1_000)
  expect(Number(/^tool_hub_disk_free_bytes\{folder="runs"\} (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0)
  for (const line of ['store_ok 1', 'config_refused 0']) expect(text).toContain(`\ntool_hub_${line}\n`)
  for (const family of ['records_bytes', 'disk_size_bytes{folder="runs"}'])
    expect(Number(text.split(`\ntool_hub_${family} `)[1]?.split('\n')[0])).toBeGreaterThan(0)
  const health = await eventually(async () => {
    const found = await owner.health()
    expect(found.tools.filter(({ calls }) => calls > 0)).toHaveLength(3)
    expect(found.tools.every(({ meanMs }) => meanMs > 0)).toBe(true)
    return found
  })
  expect(health.slices.reduce((sum, { failures }) => sum + failures, 0)).toBe(0)
  expect(health.slices.reduce((sum, { denials }) => sum + denials, 0)).toBe(1)
  for (const { tool, meanMs, failures } of health.tools) {
    expect({ tool, failures, isQuick: meanMs < 1_500 }).toEqual({ tool, failures: 0, isQuick: true })
  }
  const used = health.budgets.find(({ unit }) => unit === 'wallMs')!.used
  expect(used).toBeLessThan(1_500)
})
