import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import { startService } from '@tool-hub/server'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { ApprovalRequest } from '../packages/core/src/events.ts'
import type { CallView } from '../packages/core/src/plugin.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const IDS = { requestId: 'A', taskId: 't1', goalId: 'g1' }

it('shows request, task and goal to the approver, to hooks and in the record', async () => {
  const asked: ApprovalRequest[] = []
  const viewed: CallView[] = []
  const hub = testHub({
    policy: [{ ask: 'write:fs' }],
    approve: (request) => {
      asked.push(request)
      return { decision: 'allow' }
    },
    hooks: [{ before: (call) => void viewed.push(call) }],
  })
  onTestFinished(() => hub.close())
  const input = { path: 'a.txt', text: 'x' }
  expect((await hub.callDynamic('core/fs.writeText', input, { ...IDS, run: 'r1' })).ok).toBe(true)
  expect(asked).toMatchObject([IDS])
  expect(viewed).toMatchObject([IDS])
  await hub.endRun('r1')
  const lines = readFileSync(join(hub.folder, 'runs', 'r1', 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
  expect(lines.map((line) => JSON.parse(line)).filter(({ goalId }) => goalId === 'g1')).toMatchObject([IDS])
})

it('gives each request a folder of its own below sandboxRoot', async () => {
  const sandboxRoot = temporaryFolder('sandbox')
  const hub = testHub({ core: { sandboxRoot } })
  onTestFinished(() => hub.close())
  const write = (requestId: string) =>
    hub.callDynamic('core/fs.writeText', { path: 'a.txt', text: requestId }, { requestId, taskId: '1' })
  const read = (requestId: string) => hub.callDynamic('core/fs.readText', { path: 'a.txt' }, { requestId })
  expect((await write('A')).ok).toBe(true)
  expect((await read('B')).error?.code).toBe('NOT_FOUND')
  expect((await read('A')).data).toMatchObject({ text: 'A' })
  expect(existsSync(join(sandboxRoot, 'A'))).toBe(true)
  expect((await write('../up')).ok).toBe(true)
  expect((await read('../up')).data).toMatchObject({ text: '../up' })
  expect(existsSync(join(sandboxRoot, '..', 'up'))).toBe(false)
})

it('keeps calls of a WebSocket that name no request in one folder, and names no request on record', async () => {
  const folder = temporaryFolder('service')
  const core = { sandboxRoot: join(folder, 'sandbox') }
  const service = await startService({ core, runs: join(folder, 'runs'), data: join(folder, 'data') }, { port: 0 })
  onTestFinished(() => service.close())
  const client = createClient({ url: service.url, token: service.token, WebSocket })
  const socket = await client.connect()
  onTestFinished(() => socket.close())
  const file = { path: 'a.txt' }
  expect((await socket.call('core/fs.writeText', { ...file, text: 'x' })).ok).toBe(true)
  expect((await socket.call('core/fs.readText', file, { taskId: 't' })).data).toMatchObject({ text: 'x' })
  expect((await client.call('core/fs.readText', file)).data).toMatchObject({ text: 'x' })
  const [run, ...others] = readdirSync(core.sandboxRoot)
  expect(others).toEqual([])
  expect((await socket.call('core/fs.readText', file, { requestId: 'B' })).error?.code).toBe('NOT_FOUND')
  socket.close()
  await service.close()
  const lines = readFileSync(join(folder, 'runs', run!, 'events.jsonl'), 'utf8')
  expect(lines).toContain('core/fs.writeText')
  expect(lines).not.toContain('"requestId"')
})
