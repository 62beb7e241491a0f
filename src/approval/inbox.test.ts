import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { type FakeClock, fakeClock } from '../testing/fake-clock.ts'
import { ApprovalDesk } from './desk.ts'
import { Inbox } from './inbox.ts'

const request: ApprovalRequest = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  input: { path: 'a' },
  targets: ['write:fs /a'],
  rule: 'ask write:fs',
  reason: 'it writes',
  caller: 'test',
  requests: [],
  hash: 'hash-1',
  askedAt: '2026-01-01T00:00:00.000Z',
}
const never = new AbortController().signal

let folder: string
let clock: FakeClock
let asking: Inbox
let answering: Inbox

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'inbox-')), 'approvals')
  // It stands still, so that only the watch can bring an answer unless a test moves it.
  clock = fakeClock()
  asking = new Inbox(folder, clock)
  answering = new Inbox(folder)
})
afterEach(() => asking.close())

function nextReply(): Promise<unknown> {
  return new Promise((resolve) => asking.onReply((_, reply) => resolve(reply)))
}

/** Waits for what the file system shows, not for a time. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(setImmediate)
}

describe('Inbox', () => {
  it('carries a request out and one answer back', async () => {
    await asking.open()
    const reply = nextReply()
    await asking.put(request)
    expect(await answering.list()).toEqual([{ state: 'waiting', request }])
    await answering.answer(request.id, { decision: 'deny', reason: 'not now' })
    expect(await reply).toEqual({ decision: 'deny', reason: 'not now' })
    await asking.remove(request.id)
    expect(await readdir(folder)).toEqual([])
  })

  it('lets only the first answer in', async () => {
    await asking.open()
    await asking.put(request)
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => answering.answer(request.id, { decision: 'allow', by: `${i}` })),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const refusals = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason.code)
    expect(new Set(refusals)).toEqual(new Set(['CONFLICT']))
    expect(await answering.list()).toEqual([{ state: 'answered', request }])
  })

  it('finds the answer by looking now and then where watching sees nothing', async () => {
    await asking.open()
    // What is watched is the folder that was deleted.
    await rm(folder, { recursive: true })
    await mkdir(folder, { mode: 0o700 })
    const replies: unknown[] = []
    asking.onReply((_, reply) => replies.push(reply))
    await asking.put(request)
    await answering.answer(request.id, { decision: 'allow' })
    await clock.advance(2000)
    await until(async () => replies.length > 0)
    await clock.advance(10_000)
    expect(replies).toEqual([{ decision: 'allow' }])
    await asking.close()
    expect(clock.waiting).toBe(0)
  })

  it('keeps its files private, and refuses a folder that others may write', async () => {
    await asking.open()
    await asking.put(request)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'approval-1.json'))).mode & 0o777).toBe(0o600)
    await chmod(folder, 0o777)
    await expect(new Inbox(folder).open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('refuses to list and to answer where others may write, also one folder up unless that is sticky', async () => {
    await asking.open()
    await asking.put(request)
    for (const [path, mode] of [
      [folder, 0o770],
      [join(folder, '..'), 0o777],
    ] as const) {
      await chmod(path, mode)
      const refusal = { code: 'CONFIG_INVALID', message: expect.stringContaining(`${path} can be written by other`) }
      await expect(answering.list()).rejects.toMatchObject(refusal)
      await expect(answering.answer(request.id, { decision: 'allow' })).rejects.toMatchObject(refusal)
      await chmod(path, 0o700)
    }
    await chmod(join(folder, '..'), 0o1777)
    expect(await answering.list()).toHaveLength(1)
  })

  it.skipIf(process.getuid?.() !== 0)('refuses the folder, the request and the answer of another user', async () => {
    await asking.open()
    const stranger = (path: string) => chown(path, 12_345, 12_345)
    const refusal = { code: 'CONFIG_INVALID', message: expect.stringContaining('belongs to user 12345') }
    await asking.put({ ...request, id: 'approval-2' })
    await stranger(join(folder, 'approval-2.json'))
    await expect(answering.answer('approval-2', { decision: 'allow' })).rejects.toMatchObject(refusal)
    await asking.remove('approval-2')
    await asking.put(request)
    const reply = nextReply()
    const forged = join(folder, 'forged')
    await writeFile(forged, JSON.stringify({ version: 1, hash: request.hash, reply: { decision: 'allow' } }))
    await stranger(forged)
    await rename(forged, join(folder, `${request.id}.reply.json`))
    expect(await reply).toMatchObject({ decision: 'deny', reason: expect.stringContaining('belongs to user 12345') })
    await stranger(folder)
    await expect(new Inbox(folder).open()).rejects.toMatchObject(refusal)
    await expect(answering.list()).rejects.toMatchObject(refusal)
  })

  it('says what waits when an id does not', async () => {
    await asking.open()
    await asking.put(request)
    await expect(answering.answer('approval-2', { decision: 'allow' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'No approval "approval-2" waits. Did you mean approval-1?',
    })
    await expect(new Inbox(join(folder, 'none')).answer('x', { decision: 'allow' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
  })

  it.each(['../../etc/passwd', '..', '', 'a/b', 'a.json', 'a\0b', 'x'.repeat(200)])(
    'never makes a path of %j',
    async (id) => {
      await asking.open()
      await expect(asking.put({ ...request, id })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
      await expect(answering.answer(id, { decision: 'allow' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await asking.remove(id)
      expect(await readdir(folder)).toEqual([])
    },
  )

  it('refuses an answer that makes no sense before it is written', async () => {
    await asking.open()
    await asking.put(request)
    await expect(answering.answer(request.id, { decision: 'ok' } as never)).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
    })
    expect(await readdir(folder)).toEqual(['approval-1.json'])
  })

  it('ignores what else lies in the folder', async () => {
    await asking.open()
    await asking.put(request)
    await writeFile(join(folder, 'notes.txt'), 'x')
    await writeFile(join(folder, 'broken.json'), '{')
    await writeFile(join(folder, 'other.json'), await readFile(join(folder, 'approval-1.json')))
    expect((await answering.list()).map(({ request }) => request.id)).toEqual(['approval-1'])
  })

  it('tells once of a request whose process is gone, refuses to answer it, and cleans up', async () => {
    await asking.open()
    await asking.put(request)
    const file = join(folder, 'approval-1.json')
    const posted = JSON.parse(await readFile(file, 'utf8'))
    // The number lives on in another process: only the start tells that it is another.
    const gone = JSON.stringify({ ...posted, asker: { ...posted.asker, started: '1' } })
    await writeFile(file, gone)
    expect(await answering.list()).toEqual([{ state: 'gone', request }])
    expect(await answering.list()).toEqual([])
    await writeFile(file, gone)
    await expect(answering.answer(request.id, { decision: 'allow' })).rejects.toThrow('the process that asked is gone')
    await writeFile(file, JSON.stringify({ ...posted, asker: { pid: 2 ** 22 + 1, space: posted.asker.space } }))
    expect((await answering.list())[0]?.state).toBe('gone')
    expect(await readdir(folder)).toEqual([])
  })

  it('does not call a process gone that it cannot see', async () => {
    await asking.open()
    await asking.put(request)
    const file = join(folder, 'approval-1.json')
    const posted = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...posted, asker: { pid: 2 ** 22 + 1, space: 'another container' } }))
    expect((await answering.list())[0]?.state).toBe('waiting')
  })

  it('forgets an answer that lay there before the question', async () => {
    await asking.open()
    await writeFile(
      join(folder, 'approval-1.reply.json'),
      JSON.stringify({ version: 1, hash: 'hash-1', reply: { decision: 'allow' } }),
    )
    await asking.put(request)
    expect(await answering.list()).toEqual([{ state: 'waiting', request }])
  })

  it('takes an answer to another call, or a broken one, for no answer', async () => {
    await asking.open()
    const first = nextReply()
    await asking.put(request)
    await writeFile(
      join(folder, 'approval-1.reply.json'),
      JSON.stringify({ version: 1, hash: 'other', reply: { decision: 'allow' } }),
    )
    expect(await first).toBeUndefined()
  })

  it('withdraws what it asked when it closes', async () => {
    await asking.open()
    await asking.put(request)
    await asking.close()
    expect(asking.isOpen).toBe(false)
    expect(await readdir(folder)).toEqual([])
  })
})

describe('ApprovalDesk with an inbox', () => {
  const newDesk = (clock = fakeClock()) => ({
    clock,
    desk: new ApprovalDesk({ timeoutMs: 1000, clock, inbox: asking }),
  })

  it('reaches nobody through an inbox that is not open', async () => {
    await expect(newDesk().desk.ask(request, never)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
  })

  it('takes the answer of another process and leaves nothing behind', async () => {
    await asking.open()
    const answer = newDesk().desk.ask(request, never)
    await until(async () => (await answering.list()).length > 0)
    await answering.answer(request.id, { decision: 'allow', by: 'ada' })
    expect(await answer).toEqual({ decision: 'allow', by: 'ada' })
    await until(async () => (await readdir(folder)).length === 0)
  })

  it('denies on an answer that was tampered with', async () => {
    await asking.open()
    const answer = newDesk().desk.ask(request, never)
    const refused = expect(answer).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    await until(async () => (await answering.list()).length > 0)
    await writeFile(join(folder, 'approval-1.reply.json'), 'allow')
    await refused
  })

  it('withdraws the request after a timeout, an abort, or an answer from elsewhere', async () => {
    await asking.open()
    const { desk, clock } = newDesk()
    const late = expect(desk.ask(request, never)).rejects.toMatchObject({ code: 'APPROVAL_TIMEOUT' })
    await clock.advance(1000)
    await late
    const stopper = new AbortController()
    const stopped = expect(desk.ask({ ...request, id: 'approval-2' }, stopper.signal)).rejects.toMatchObject({
      code: 'ABORTED',
    })
    stopper.abort()
    await stopped
    const answered = desk.ask({ ...request, id: 'approval-3' }, never)
    const reply: ApprovalReply = { decision: 'allow' }
    desk.reply('approval-3', reply)
    expect(await answered).toEqual(reply)
    await until(async () => (await readdir(folder)).length === 0)
  })

  it('fails what waits at once when the inbox is closed, however far it got', async () => {
    await asking.open()
    const { desk, clock } = newDesk()
    const first = expect(desk.ask(request, never)).rejects.toMatchObject({ code: 'APPROVAL_UNAVAILABLE' })
    await until(async () => (await answering.list()).length > 0)
    const second = expect(desk.ask({ ...request, id: 'approval-2' }, never)).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
      message: expect.stringContaining('the inbox was closed'),
    })
    await asking.close()
    await Promise.all([first, second])
    expect(clock.waiting).toBe(0)
    await until(async () => (await readdir(folder)).length === 0)
  })

  it('goes on waiting for a watcher when the inbox is closed', async () => {
    await asking.open()
    const { desk } = newDesk()
    desk.watch(() => {})
    const answer = desk.ask(request, never)
    await asking.close()
    desk.reply(request.id, { decision: 'allow' })
    expect((await answer).decision).toBe('allow')
    await until(async () => (await readdir(folder)).length === 0)
  })

  it('fails at once when the request cannot be laid into the inbox', async () => {
    await asking.open()
    await expect(newDesk().desk.ask({ ...request, id: 'no/file' }, never)).rejects.toMatchObject({
      code: 'APPROVAL_UNAVAILABLE',
    })
  })
})
