import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../packages/core/src/tool.ts'
import { verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'
import { eventsOf } from './support/events-of.ts'
import { bundleModule } from './support/run-module.ts'

// Hubs are killed and recovered, one after the other.
vi.setConfig({ testTimeout: 600_000 })

const note = defineTool({
  name: 'notes.keep',
  description: 'Keeps a note, for tests.',
  input: z.strictObject({ text: z.string(), password: z.string().optional() }),
  capabilities: ['remote'],
  execute: ({ text }) => ({ text, token: 'ghp_0123456789abcdefghijklmnopqrstuvwxyz' }),
})
const pure = defineTool({
  name: 'notes.count',
  description: 'Counts characters, for tests.',
  input: z.strictObject({ text: z.string() }),
  execute: ({ text }) => text.length,
})

describe('the record of a run', () => {
  it('has the layout of the documents, one end a call, a start for those that take time, and verifies', async () => {
    const hub = testHub({ tools: [note, pure] })
    await hub.call(note, { text: 'a' }, { caller: 'agent', purpose: 'test', session: 's1' })
    await hub.call(pure, { text: 'abc' })
    await hub.callDynamic('notes.count', { txt: 1 })
    await hub.endRun(hub.run)
    const folder = join(hub.folder, 'runs', hub.run)
    const events = await eventsOf(hub)
    expect(events.map(({ type }) => type)).toEqual([
      'run-opened',
      'approval-requested',
      'approval-answered',
      'call-started',
      'run-tainted',
      'call-ended',
      'call-ended',
      'call-ended',
      'run-closed',
    ])
    expect(events[3]).toMatchObject({
      caller: 'agent',
      tool: 'notes.keep',
      session: 's1',
      purpose: 'test',
      argsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      effect: 'ask',
    })
    expect(events[4]).toMatchObject({ sources: ['notes.keep'] })
    expect(events[5]).toMatchObject({
      status: 'ok',
      approvedBy: 'testHub',
      resultHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      durationMs: expect.any(Number),
      bytes: expect.any(Number),
    })
    const lines = async (file: string) =>
      (await readFile(join(folder, file), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    expect((await lines('logs/tools.jsonl')).map(({ status }) => status)).toEqual(['ok', 'ok', 'error'])
    expect(await lines('logs/errors.jsonl')).toHaveLength(1)
    expect(await verifyRun(folder)).toMatchObject({ ok: true, calls: 3, problems: [] })
    await hub.close()
  })

  it('has the hash of what the model saw of a call that failed', async () => {
    const hub = testHub({ tools: [pure] })
    const { content } = await hub.callDynamic('notes.count', { txt: 1 })
    await hub.endRun(hub.run)
    const seen = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const ended = (await eventsOf(hub)).find(({ type }) => type === 'call-ended')
    expect(ended).toMatchObject({ resultHash: createHash('sha256').update(seen).digest('hex'), bytes: 0 })
    await hub.close()
  })

  it('holds no secret of the query of a URL, in no field', async () => {
    const hub = testHub()
    const url = 'http://127.0.0.1:9/echo?a=1&api_key=QUERYSECRET1'
    await hub.callDynamic('core/http.fetchText', { url })
    await hub.endRun(hub.run)
    const log = await readFile(join(hub.folder, 'runs', hub.run, 'logs', 'tools.jsonl'), 'utf8')
    const written = JSON.stringify(await eventsOf(hub)) + log
    expect(written).toContain('/echo?a=1&api_key=[redacted:url-secret]')
    expect(written).not.toContain('QUERYSECRET1')
    await hub.close()
  })

  it('and the result hold no secret, by key, by shape and by value', async () => {
    const hub = testHub({ tools: [note], redact: { values: ['my-own-secret'] } })
    const result = await hub.call(note, { text: 'say my-own-secret', password: 'hunter2hunter2' })
    await hub.endRun(hub.run)
    const written = JSON.stringify(await eventsOf(hub))
    for (const secret of ['ghp_0123', 'my-own-secret', 'hunter2hunter2']) {
      expect(JSON.stringify(result)).not.toContain(secret)
      expect(written).not.toContain(secret)
    }
    await hub.close()
  })

  it('shows a changed, a removed and an added line', async () => {
    const hub = testHub({ tools: [pure] })
    for (let i = 0; i < 3; i++) await hub.call(pure, { text: 'x'.repeat(i) })
    await hub.endRun(hub.run)
    const folder = join(hub.folder, 'runs', hub.run)
    const file = join(folder, 'events.jsonl')
    const whole = await readFile(file, 'utf8')
    const lines = whole.trimEnd().split('\n')
    const tampered = [
      whole.replace('"bytes":1', '"bytes":2'),
      `${lines.toSpliced(3, 1).join('\n')}\n`,
      `${lines.slice(0, -1).join('\n')}\n`,
      `${[lines[0], lines[2], lines[1], ...lines.slice(3)].join('\n')}\n`,
      `${lines.toSpliced(2, 0, lines[2]!).join('\n')}\n`,
    ]
    for (const text of tampered) {
      expect(text).not.toBe(whole)
      await writeFile(file, text)
      expect((await verifyRun(folder)).ok).toBe(false)
    }
    await writeFile(file, whole)
    expect((await verifyRun(folder)).ok).toBe(true)
    await hub.close()
  })

  it('cannot be shared by two hubs: the second gets an error, and works on another run', async () => {
    const hub = testHub({ tools: [pure], run: 'shared' })
    await hub.call(pure, { text: 'a' })
    const second = createToolHub({ tools: [pure], runs: join(hub.folder, 'runs'), run: 'shared' })
    expect((await second.call(pure, { text: 'a' })).error).toMatchObject({
      code: 'CONFLICT',
      fix: { hint: expect.stringContaining('run') },
    })
    expect((await second.call(pure, { text: 'a' }, { run: 'mine' })).ok).toBe(true)
    await second.close()
    await hub.close()
  })

  it('that cannot be opened denies every call, with the reason', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tool-hub-blocked-'))
    await writeFile(join(folder, 'runs'), 'a file where a folder should be')
    const hub = createToolHub({ tools: [pure], runs: join(folder, 'runs') })
    const result = await hub.call(pure, { text: 'a' })
    expect(result.ok).toBe(false)
    expect(result.error).toMatchObject({ code: 'CONFIG_INVALID', fix: { key: 'runs' } })
    await hub.close()
    await rm(folder, { recursive: true })
  })
})

describe('kill -9', () => {
  it('at any moment loses nothing that was acknowledged, and the next start ends what was open', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tool-hub-kill-'))
    const script = await bundleModule('test/support/call-until-killed.ts')
    for (let round = 0; round < 5; round++) {
      const acknowledged = await killAfter(script, folder, 40 + round * 37)
      const hub = createToolHub({ runs: folder, run: 'victim' })
      await hub.call('core/util.time.now', {})
      await hub.close()
      const events = (await readFile(join(folder, 'victim', 'events.jsonl'), 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      const ended = new Map<string, number>()
      for (const { type, callId } of events) {
        if (type === 'call-ended' || type === 'call-interrupted') ended.set(callId, (ended.get(callId) ?? 0) + 1)
      }
      expect(acknowledged.filter((id) => ended.get(id) !== 1)).toEqual([])
      const started = events.filter(({ type }) => type === 'call-started').map(({ callId }) => callId)
      expect(started.filter((id) => ended.get(id) !== 1)).toEqual([])
      expect(await verifyRun(join(folder, 'victim'))).toMatchObject({ ok: true })
    }
    await rm(folder, { recursive: true })
  })

  it('and a torn last line is set aside', async () => {
    const hub = testHub({ tools: [pure], run: 'torn' })
    await hub.call(pure, { text: 'a' })
    await hub.endRun('torn')
    const folder = join(hub.folder, 'runs', 'torn')
    await rm(join(folder, 'head.json'))
    await appendFile(join(folder, 'events.jsonl'), '{"seq":99,"time":"2026')
    expect((await hub.call(pure, { text: 'b' })).ok).toBe(true)
    await hub.endRun('torn')
    expect((await eventsOf(hub, 'torn')).map(({ type }) => type)).toContain('line-torn')
    expect((await verifyRun(folder)).ok).toBe(true)
    await hub.close()
  })
})

/** Runs the script until it has acknowledged so many calls, kills it, and returns their ids. */
async function killAfter(script: string, folder: string, calls: number): Promise<string[]> {
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const acknowledged: string[] = []
  const gone = new Promise((resolve) => child.once('exit', resolve))
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line)
    if (acknowledged.length === calls) child.kill('SIGKILL')
  }
  await gone
  return acknowledged
}
