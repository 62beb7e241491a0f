import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../clock.ts'
import type { ApprovalRequest } from '../result.ts'
import { Grants } from './grants.ts'
import { Inbox } from './inbox.ts'

const request: ApprovalRequest = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  input: {},
  targets: [],
  rule: 'ask write:fs',
  reason: 'it writes',
  caller: 'test',
  requests: [],
  hash: 'hash-1',
  askedAt: '2026-01-01T00:00:00.000Z',
}

let folder: string
const children: ChildProcess[] = []

/** Children run plain JavaScript on every Node that is supported, so the sources are bundled for them. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'two-processes-'))
  const source = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: folder,
      rollupOptions: {
        input: { grants: source('grants.ts'), inbox: source('inbox.ts') },
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  })
})

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

let scripts = 0

async function start(script: string): Promise<ChildProcess> {
  const file = join(folder, `script-${++scripts}.mjs`)
  await writeFile(file, script)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

async function run(script: string): Promise<void> {
  const [code] = await once(await start(script), 'close')
  expect(code).toBe(0)
}

describe('grants in two processes', () => {
  const addingTo = (file: string, name: string) => `
    import { Grants } from './grants.mjs'
    const grants = new Grants({ file: ${JSON.stringify(file)}, clock: { now: Date.now, after() {} } })
    for (let i = 0; i < 15; ) {
      try {
        grants.remember({ ...${JSON.stringify(request)}, hash: '${name}-' + i }, { decision: 'allow', remember: 'always' })
        i++
      } catch (error) {
        if (error.code !== 'CONFLICT') throw error
      }
    }`

  it('loses none of the answers that processes save at the same time', async () => {
    const file = join(folder, 'shared', 'grants.json')
    await Promise.all(['a', 'b', 'c'].map((name) => run(addingTo(file, name))))
    const grants = new Grants({ file, clock: systemClock })
    expect(grants.problem).toBeUndefined()
    expect(grants.list()).toHaveLength(45)
    expect(JSON.parse(await readFile(file, 'utf8')).grants).toHaveLength(45)
  })

  it('honours what another process took back', async () => {
    const file = join(folder, 'revoked', 'grants.json')
    const grants = new Grants({ file, clock: systemClock })
    const grant = grants.remember(request, { decision: 'allow', remember: 'always' })
    const call = { hash: request.hash, tool: request.tool, targets: [] }
    expect(grants.find(call)).toEqual(grant)
    await run(`
      import { Grants } from './grants.mjs'
      const grants = new Grants({ file: ${JSON.stringify(file)}, clock: { now: Date.now, after() {} } })
      if (!grants.revoke('${grant?.id}')) process.exit(1)`)
    expect(grants.find(call)).toBeUndefined()
  })
})

describe('an inbox in two processes', () => {
  it('takes an answer from a process without a hub', async () => {
    const inbox = new Inbox(join(folder, 'answered'))
    await inbox.open()
    const reply = new Promise((resolve) => inbox.onReply((_, reply) => resolve(reply)))
    await inbox.put(request)
    await run(`
      import { Inbox } from './inbox.mjs'
      const inbox = new Inbox(${JSON.stringify(join(folder, 'answered'))})
      const [{ request }] = await inbox.list()
      await inbox.answer(request.id, { decision: 'allow', by: 'cli' })`)
    expect(await reply).toEqual({ decision: 'allow', by: 'cli' })
    await inbox.close()
  })

  it('calls a request gone once the process that asked was killed', async () => {
    const inboxFolder = join(folder, 'killed')
    const child = await start(`
      import { Inbox } from './inbox.mjs'
      const inbox = new Inbox(${JSON.stringify(inboxFolder)})
      await inbox.open()
      await inbox.put(${JSON.stringify(request)})
      console.log('asked')
      setInterval(() => {}, 1000)`)
    await once(child.stdout!, 'data')
    const inbox = new Inbox(inboxFolder)
    expect(await inbox.list()).toEqual([{ state: 'waiting', request }])
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(await inbox.list()).toEqual([{ state: 'gone', request }])
    expect(await inbox.list()).toEqual([])
  })
})
