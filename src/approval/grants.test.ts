import { chmod, chown, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { currentProcess } from '../disk/process-identity.ts'
import type { ApprovalReply, ApprovalRequest } from '../result.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { type Grant, Grants } from './grants.ts'

const request: ApprovalRequest = {
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  input: {},
  targets: ['write:fs /a', 'write:fs /b'],
  rule: 'ask write:fs',
  reason: 'it writes',
  caller: 'test',
  requests: [],
  hash: 'hash-1',
  askedAt: '2026-01-01T00:00:00.000Z',
}
const call = { hash: 'hash-1', tool: 'notes.save', targets: request.targets, session: 'run:run-1' }

describe('what an answer covers', () => {
  const grants = () => new Grants({ clock: fakeClock() })

  it('keeps nothing of an answer for once', () => {
    const all = grants()
    expect(all.remember(request, { decision: 'allow' })).toBeUndefined()
    expect(all.remember(request, { decision: 'allow', remember: 'once' })).toBeUndefined()
    expect(all.find(call)).toBeUndefined()
  })

  it('covers only the very call unless said', () => {
    const all = grants()
    all.remember(request, { decision: 'allow', remember: 'always' })
    expect(all.find(call)?.effect).toBe('allow')
    expect(all.find({ ...call, hash: 'hash-2' })).toBeUndefined()
    expect(all.find({ ...call, tool: 'notes.drop' })).toBeUndefined()
  })

  it('covers calls of the tool within the targets when said', () => {
    const all = grants()
    all.remember(request, { decision: 'allow', remember: 'always', covers: 'targets' })
    const other = { ...call, hash: 'hash-2' }
    expect(all.find({ ...other, targets: ['write:fs /b'] })?.effect).toBe('allow')
    expect(all.find({ ...other, targets: ['write:fs /b', 'write:fs /c'] })).toBeUndefined()
    expect(all.find({ ...other, targets: [] })).toBeUndefined()
    expect(all.find({ ...other, tool: 'notes.drop' })).toBeUndefined()
  })

  it('takes an answer without targets for calls without targets only', () => {
    const all = grants()
    all.remember({ ...request, targets: [] }, { decision: 'allow', remember: 'always', covers: 'targets' })
    expect(all.find({ ...call, hash: 'x', targets: [] })?.effect).toBe('allow')
    expect(all.find({ ...call, hash: 'x' })).toBeUndefined()
  })

  it('prefers the answer to the very call, and among equals the no', () => {
    const all = grants()
    const remember = (reply: ApprovalReply) => all.remember(request, { remember: 'always', ...reply })
    remember({ decision: 'allow', covers: 'targets' })
    remember({ decision: 'deny', covers: 'targets' })
    expect(all.find(call)?.effect).toBe('deny')
    remember({ decision: 'allow', covers: 'exact' })
    expect(all.find(call)?.effect).toBe('allow')
    remember({ decision: 'deny', covers: 'exact' })
    expect(all.find(call)?.effect).toBe('deny')
  })

  it('holds in its session only; without a session, in its run only', () => {
    const all = grants()
    all.remember({ ...request, session: 's1' }, { decision: 'allow', remember: 'session' })
    expect(all.find({ ...call, session: 's1' })?.session).toBe('s1')
    expect(all.find(call)).toBeUndefined()
    expect(all.find({ ...call, session: undefined })).toBeUndefined()
    all.remember(request, { decision: 'allow', remember: 'session' })
    expect(all.find(call)?.session).toBe('run:run-1')
  })

  it('ends with its session, or with its run', () => {
    const all = grants()
    all.remember({ ...request, session: 's1' }, { decision: 'allow', remember: 'session' })
    all.remember(request, { decision: 'deny', remember: 'session' })
    const kept = all.remember(request, { decision: 'allow', remember: 'always' })
    all.endSession('run:run-1')
    expect(all.find(call)).toEqual(kept)
    expect(all.list()).toHaveLength(2)
    all.endSession('s1')
    expect(all.list()).toEqual([kept])
  })

  it('ends with its time', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1))
    const all = new Grants({ clock })
    all.remember(request, { decision: 'allow', remember: { until: '2026-01-01T01:00:00+00:30' } })
    await clock.advance(30 * 60_000 - 1)
    expect(all.find(call)?.until).toBe('2026-01-01T00:30:00.000Z')
    await clock.advance(1)
    expect(all.find(call)).toBeUndefined()
    expect(all.list()).toEqual([])
    expect(all.remember(request, { decision: 'allow', remember: { until: '2020-01-01T00:00:00Z' } })).toBeUndefined()
  })

  it('refuses to remember an answer that makes no sense', () => {
    const reply = { decision: 'allow', remember: { until: 'never' } } as ApprovalReply
    expect(() => grants().remember(request, reply)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
  })

  it('lists answers once each, and takes them back by id', () => {
    const all = grants()
    const first = all.remember(request, { decision: 'allow', remember: 'session', by: 'ada' })
    const second = all.remember(request, { decision: 'allow', remember: 'session', by: 'ada', reason: 'again' })
    expect(all.list()).toEqual([second])
    expect(all.revoke(first?.id ?? '')).toBe(false)
    expect(all.revoke(second?.id ?? '')).toBe(true)
    expect(all.find(call)).toBeUndefined()
  })
})

describe('saved answers', () => {
  let file: string
  const open = () => new Grants({ file, clock: fakeClock() })
  beforeEach(async () => {
    file = join(await mkdtemp(join(tmpdir(), 'grants-')), 'data', 'grants.json')
  })

  it('live on in the next process, private to their owner', async () => {
    const saved = open().remember(request, { decision: 'allow', remember: 'always', by: 'ada' })
    expect(open().find(call)).toEqual(saved)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700)
    expect(await readdir(join(file, '..'))).toEqual(['grants.json'])
  })

  it('leave no trace when there is nothing to take back', async () => {
    expect(open().revoke('grant-unknown')).toBe(false)
    await expect(stat(join(file, '..'))).rejects.toThrow('ENOENT')
  })

  it('are not what a session answer becomes', async () => {
    open().remember(request, { decision: 'allow', remember: 'session' })
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })

  it('are seen by another process at once, and so is their end', () => {
    const [one, other] = [open(), open()]
    expect(other.find(call)).toBeUndefined()
    const grant = one.remember(request, { decision: 'allow', remember: 'always' })
    expect(other.find(call)).toEqual(grant)
    expect(other.revoke(grant?.id ?? '')).toBe(true)
    expect(one.find(call)).toBeUndefined()
    expect(one.list()).toEqual([])
    expect(one.revoke(grant?.id ?? '')).toBe(false)
  })

  it('are gone when the file is deleted', async () => {
    const grants = open()
    grants.remember(request, { decision: 'allow', remember: 'always' })
    expect(grants.find(call)).toBeDefined()
    await rm(file)
    expect(grants.find(call)).toBeUndefined()
    expect(grants.problem).toBeUndefined()
  })

  it('lose none when two processes add in turn, and drop those whose time is over', async () => {
    const clock = fakeClock()
    const [one, other] = [new Grants({ file, clock }), new Grants({ file, clock })]
    const until = new Date(clock.now() + 1000).toISOString()
    one.remember(request, { decision: 'allow', remember: { until } })
    other.remember({ ...request, hash: 'hash-2' }, { decision: 'allow', remember: 'always' })
    expect(one.list()).toHaveLength(2)
    await clock.advance(1000)
    one.remember({ ...request, hash: 'hash-3' }, { decision: 'deny', remember: 'always' })
    const { grants } = JSON.parse(await readFile(file, 'utf8')) as { grants: Grant[] }
    expect(grants.map(({ hash }) => hash)).toEqual(['hash-2', 'hash-3'])
  })

  const broken: [string, string][] = [
    ['no JSON', '{'],
    ['another version', '{"version":2,"grants":[]}'],
    ['unknown fields', '{"version":1,"grants":[],"allowEverything":true}'],
    ['a grant without targets', JSON.stringify({ version: 1, grants: [{ id: 'g', effect: 'allow', tool: '*' }] })],
    ['nothing', ''],
  ]
  it.each(broken)('allow nothing when the file holds %s, and it is left as it is', async (_, content) => {
    const grants = open()
    grants.remember(request, { decision: 'allow', remember: 'always' })
    grants.remember(request, { decision: 'allow', remember: 'session' })
    await writeFile(file, content)
    expect(grants.find(call)).toBeUndefined()
    expect(grants.problem).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(grants.problem?.message).toContain(file)
    expect(() => grants.remember(request, { decision: 'allow', remember: 'always' })).toThrow('cannot be used')
    expect(() => grants.revoke('grant-unknown')).toThrow('cannot be used')
    expect(await readFile(file, 'utf8')).toBe(content)
  })

  it('still refuse what the session refused when the file is broken', async () => {
    const grants = open()
    grants.remember(request, { decision: 'deny', remember: 'session' })
    grants.remember({ ...request, hash: 'x' }, { decision: 'deny', remember: 'always' })
    await writeFile(file, '{')
    expect(grants.find(call)?.effect).toBe('deny')
  })

  it('count again once the file is repaired', async () => {
    const grants = open()
    grants.remember(request, { decision: 'allow', remember: 'always' })
    const good = await readFile(file, 'utf8')
    await writeFile(file, '{')
    expect(grants.find(call)).toBeUndefined()
    await writeFile(file, good)
    expect(grants.find(call)?.effect).toBe('allow')
    expect(grants.problem).toBeUndefined()
  })

  it('are not believed when others may write the file, or when it is a link', async () => {
    const grants = open()
    grants.remember(request, { decision: 'allow', remember: 'always' })
    await chmod(file, 0o666)
    expect(grants.find(call)).toBeUndefined()
    expect(grants.problem?.message).toContain('can be written by other users (mode 666)')
    await chmod(file, 0o600)
    await rename(file, `${file}.real`)
    await symlink(`${file}.real`, file)
    expect(grants.find(call)).toBeUndefined()
  })

  it('are not believed in a folder where others may write, until it is closed again', async () => {
    const grants = open()
    grants.remember(request, { decision: 'allow', remember: 'always' })
    const folder = join(file, '..')
    await chmod(folder, 0o777)
    expect(grants.find(call)).toBeUndefined()
    expect(grants.problem).toMatchObject({
      message: expect.stringContaining(`${folder} can be written by other users (mode 777)`),
      fix: { hint: expect.stringContaining(`chmod go-w ${folder}`) },
    })
    const save = () => grants.remember({ ...request, hash: 'x' }, { decision: 'allow', remember: 'always' })
    expect(save).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    await chmod(folder, 0o700)
    expect(grants.find(call)?.effect).toBe('allow')
  })

  it.skipIf(process.getuid?.() !== 0)('are not believed when another user owns the file or its folder', async () => {
    const grants = open()
    grants.remember(request, { decision: 'allow', remember: 'always' })
    for (const path of [file, join(file, '..')]) {
      await chown(path, 12_345, 12_345)
      expect(grants.find(call)).toBeUndefined()
      expect(grants.problem).toMatchObject({
        message: expect.stringContaining(`${path} belongs to user 12345, not to you (user 0) or root`),
        fix: { hint: expect.stringContaining(`chown 0 ${path}`) },
      })
      await chown(path, 0, 0)
      expect(grants.find(call)?.effect).toBe('allow')
    }
  })

  it('wait for a process that writes, and give up on one that never ends', async () => {
    open().remember(request, { decision: 'allow', remember: 'always' })
    await writeFile(`${file}.lock`, JSON.stringify({ ...currentProcess(), token: 'x' }))
    expect(() => open().remember({ ...request, hash: 'x' }, { decision: 'allow', remember: 'always' })).toThrow(
      expect.objectContaining({ code: 'CONFLICT', retryable: true }),
    )
    expect(open().find(call)?.effect).toBe('allow')
  })

  it('take over the lock and the unfinished file of a process that died while writing', async () => {
    open().remember(request, { decision: 'allow', remember: 'always' })
    await writeFile(`${file}.lock`, JSON.stringify({ ...currentProcess(), started: '1', token: 'x' }))
    await writeFile(`${file}.tmp`, '{"version":1,"gra')
    open().remember({ ...request, hash: 'hash-2' }, { decision: 'allow', remember: 'always' })
    expect(open().list()).toHaveLength(2)
    expect(await readdir(join(file, '..'))).toEqual(['grants.json'])
  })
})
