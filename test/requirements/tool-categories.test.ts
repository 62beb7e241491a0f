import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import { startService } from '@tool-hub/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import {
  type CallEvent,
  connectClient,
  type HubOptions,
  jsonResult,
  type SessionWork,
  type ToolResult,
  toAgentTools,
  toClientToolDefinitions,
} from '../../packages/library/src/index.ts'
import { useLoopback } from '../support/loopback.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const local = useLoopback()

/** A web page and a search service. */
function answerWeb(): void {
  local.answer = (request, response) => {
    if (request.method === 'GET')
      return response
        .setHeader('content-type', 'text/html')
        .end('<title>Rye</title><article><h1>Rye bread</h1><p>Flour, water and salt.</p></article>')
    const results = [{ title: 'Rye', url: 'https://rye.example/', content: 'About rye.', score: 1 }]
    return response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }))
  }
}

describe('the tools of an abstraction layer', () => {
  it('every tool of the table works: files, runtime, sessions, web, messages, browser, canvas, cron', async () => {
    answerWeb()
    const url = `http://127.0.0.1:${local.port}/`
    const inbox: string[] = []
    const run = async ({ messages }: SessionWork) => {
      for await (const { text } of messages()) {
        inbox.push(text)
        break
      }
      return 'answered'
    }
    const allowed = ['exec', 'session', 'schedule', 'network', 'browser', 'message', 'canvas']
    const options: HubOptions = {
      policy: allowed.map((allow) => ({ allow })),
      sandbox: LOOPBACK,
      sessions: { runners: { default: { run } } },
      web: { search: { provider: 'tavily', url } },
      secrets: { tavily: { value: 'tvly-0123456789', hosts: ['127.0.0.1'] } },
    }
    const { hub, text, data, read } = realHub(options, { 'a.txt': 'one\ntwo' })
    const names = hub.cards({ dialect: 'coding' }).map(({ name }) => name)
    const table = {
      files: ['read', 'write', 'edit', 'apply_patch'],
      runtime: ['exec', 'process'],
      sessions: ['sessions_list', 'sessions_send', 'sessions_spawn', 'session_status'],
      web: ['web_search', 'web_fetch'],
      messages: ['message'],
      others: ['browser', 'canvas', 'cron'],
    }
    expect(names).toEqual(expect.arrayContaining(Object.values(table).flat()))

    expect(await text('read', { file_path: 'a.txt' })).toContain('two')
    await data('write', { file_path: 'b.txt', content: 'written' })
    await data('edit', { file_path: 'a.txt', oldString: 'two', newString: '2' })
    expect([read('a.txt'), read('b.txt')]).toEqual(['one\n2', 'written'])
    await data('apply_patch', { input: '*** Begin Patch\n*** Add File: d.txt\n+patched\n*** End Patch' })
    expect(read('d.txt')).toBe('patched\n')

    expect(await text('exec', { command: 'cat b.txt' })).toContain('written')
    const { sessionId } = await data('exec', { command: 'cat', background: true })
    expect(await data('process', { action: 'list' })).toMatchObject({ sessions: [{ sessionId }] })
    await data('process', { action: 'kill', sessionId })

    const { session } = await data('sessions_spawn', { task: 'Answer.', label: 'worker' })
    const { sessions } = await data('sessions_list')
    expect(sessions).toContainEqual(expect.objectContaining({ id: session.id, label: 'worker' }))
    await data('sessions_send', { session: 'worker', message: 'Hello.', waitMs: 60_000 })
    expect(inbox).toEqual(['Hello.'])
    expect(await data('session_status', { session: 'worker' })).toMatchObject({
      session: { id: session.id, result: 'answered' },
    })

    await data('message', { channel: 'console', text: 'The build is done.' })
    expect((await hub.messages.inbox()).messages).toMatchObject([{ text: 'The build is done.' }])

    const shown = { action: 'present', canvas: 'report', kind: 'html', content: '<p>Done</p>' }
    const { canvas } = await data('canvas', shown)
    expect((await hub.canvas.content(canvas.id)).text).toBe('<p>Done</p>')

    const calls = [{ tool: 'core/fs.writeText', input: { path: 'c.txt', text: 'from cron' } }]
    await data('cron', { action: 'add', name: 'job', cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', calls })
    expect(await data('cron', { action: 'run', name: 'job' })).toMatchObject({ run: { status: 'ok' } })
    expect(read('c.txt')).toBe('from cron')

    expect(await text('web_search', { query: 'bread' })).toContain('rye.example')
    expect(await text('web_fetch', { url })).toContain('Flour, water and salt.')
    await data('browser', { action: 'open', url })
    expect(await text('browser', { action: 'snapshot' })).toContain('Rye bread')
  })

  it('a client tool is pending for the agent, and the client returns its result over WebSocket', async () => {
    const parameters = { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] }
    const definition = { function: { name: 'pick_photo', description: 'Lets the user pick a photo.', parameters } }
    const pending = jsonResult({
      status: 'pending',
      tool: 'pick_photo',
      message: 'Tool execution delegated to client',
    })
    const [plain] = toClientToolDefinitions([definition])
    expect(plain).toMatchObject({ name: 'pick_photo', description: 'Lets the user pick a photo.', parameters })
    expect(await plain!.execute('call-1', { of: 'cats' })).toEqual(pending)

    let settle: (end: [ToolResult, string]) => void = () => {}
    const settled = new Promise<[ToolResult, string]>((end) => (settle = end))
    const policy = [{ allow: 'pick_photo' }]
    const { hub } = realHub({ policy })
    const phone = connectClient(hub, { name: 'phone', tools: [definition] })
    const [tool] = toAgentTools(hub, { names: ['pick_photo'], onSettled: (...end) => settle(end) })
    expect(tool).toMatchObject({ name: 'pick_photo', description: 'Lets the user pick a photo.' })
    expect(await tool!.execute('call-2', { of: 'cats' })).toEqual(pending)
    phone.onCall(({ callId }) => phone.answer(callId, { data: { photo: 'cat.jpg' } }))
    expect(await settled).toMatchObject([{ ok: true, data: { photo: 'cat.jpg' } }, 'call-2'])

    const folder = temporaryFolder('client-tools')
    const service = await startService({ policy, runs: join(folder, 'runs'), data: join(folder, 'data') }, { port: 0 })
    onTestFinished(() => service.close())
    const connect = async () => {
      const socket = await createClient({ url: service.url, token: service.token, WebSocket }).connect()
      onTestFinished(() => socket.close())
      return socket
    }
    const [client, agent] = [await connect(), await connect()]
    let pick: (photo: object) => void = () => {}
    const picked = new Promise<object>((photo) => (pick = photo))
    const received: unknown[] = []
    const execute = (input: unknown) => {
      received.push(input)
      return picked
    }
    const registered = await client.registerTools({ name: 'phone', tools: [{ definition, execute }] })
    expect(registered).toMatchObject({ tools: ['pick_photo'], refused: [] })
    const events: CallEvent[] = []
    for await (const event of agent.stream('pick_photo', { of: 'cats' })) {
      events.push(event)
      // Only the agent that has heard of the pending call lets the client end it.
      if (event.type === 'call-pending') pick({ photo: 'dog.jpg' })
    }
    const { tool: name, message } = pending.details
    expect(events).toContainEqual(expect.objectContaining({ type: 'call-pending', tool: name, message }))
    expect(events.at(-1)).toMatchObject({ type: 'call-ended', result: { ok: true, data: { photo: 'dog.jpg' } } })
    expect(received).toEqual([{ of: 'cats' }])
  })
})
