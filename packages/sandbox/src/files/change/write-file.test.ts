import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'

let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
  ws.put('old.txt', 'old')
})
afterEach(() => ws.close())

const code = (expected: string) => expect.objectContaining({ code: expected })
const overwrite = { overwrite: true }

describe('a new file', () => {
  it('is written with its folders, on record before, and tells bytes and hash', async () => {
    expect(await ws.handle().writeText('p/q/é.txt', 'grüße')).toEqual({ bytes: 7, sha256: sha256('grüße') })
    expect(ws.text('p/q/é.txt')).toBe('grüße')
    expect(readdirSync(ws.at('p/q'))).toEqual(['é.txt'])
    expect(ws.journal.ops(ws.root)).toEqual(['make-folder p', 'make-folder p/q', 'create p/q/é.txt'])
    expect(ws.journal.changes.at(-1)).toMatchObject({ after: { sha256: sha256('grüße'), bytes: 7, mode: 0o644 } })
    expect(ws.seen.get(ws.at('p/q/é.txt'))).toBe(sha256('grüße'))
    expect(ws.notices).toEqual([])
  })

  it('makes no folders when told not to', async () => {
    expect(await outcome(ws.handle().writeText('p/x.txt', 'x', { mkdirp: false }))).toBe('NOT_FOUND')
    expect(ws.names()).toEqual(['old.txt'])
  })

  it('leaves no folders behind when it fails', async () => {
    const stop = new AbortController()
    async function* endless() {
      yield Buffer.from('x')
      stop.abort()
      await new Promise(() => {})
    }
    const writing = ws.handle({ signal: () => stop.signal }).writeBytes('p/q/x.txt', endless())
    expect(await outcome(writing)).toBe('ABORTED')
    expect(ws.names()).toEqual(['old.txt'])
  })

  it('is made by exactly one of many writers, also of several guards', async () => {
    const guards = [undefined, ws.another()]
    for (let round = 0; round < 5; round += 1) {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          outcome(ws.handle({}, guards[index % 2]).writeText(`${round}.txt`, `${index}`)),
        ),
      )
      expect(results.filter((result) => result === 'CONFLICT')).toHaveLength(19)
      expect(ws.text(`${round}.txt`)).toBe(`${results.indexOf('ok')}`)
    }
    expect(ws.names()).toHaveLength(6)
    guards[1]!.filesRoot.roots.close()
  })

  it('makes a folder for many writers once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => ws.handle().writeText(`p/q/${index}.txt`, 'x')))
    expect(ws.journal.ops(ws.root).filter((op) => op.startsWith('make-folder'))).toHaveLength(2)
    expect(readdirSync(ws.at('p/q'))).toHaveLength(20)
  })
})

describe('a file that exists', () => {
  it('is left alone unless it is to be overwritten', async () => {
    await expect(ws.handle().writeText('old.txt', 'new')).rejects.toThrow(
      expect.objectContaining({ code: 'CONFLICT', fix: expect.objectContaining({ key: 'overwrite', value: true }) }),
    )
    expect(ws.text('old.txt')).toBe('old')
  })

  it('is replaced by a tool that may destroy, and its content kept first', async () => {
    await ws.handle().writeText('old.txt', 'new', overwrite)
    expect(ws.text('old.txt')).toBe('new')
    expect(ws.journal.kept.get(sha256('old'))?.toString()).toBe('old')
    expect(ws.journal.changes).toEqual([
      {
        op: 'replace',
        path: ws.at('old.txt'),
        before: { sha256: sha256('old'), bytes: 3, mode: 0o644 },
        after: { sha256: sha256('new'), bytes: 3, mode: 0o644 },
      },
    ])
  })

  it('is replaced by others only when the run has read just what it holds', async () => {
    const cautious = ws.handle({ canOverwrite: false })
    await expect(cautious.writeText('old.txt', 'new', overwrite)).rejects.toThrow(
      expect.objectContaining({
        code: 'POLICY_DENIED',
        fix: { key: 'capabilities', value: 'danger:destructive', hint: expect.stringContaining('Read the whole file') },
      }),
    )
    ws.seen.set(ws.at('old.txt'), sha256('something older'))
    expect(await outcome(cautious.writeText('old.txt', 'new', overwrite))).toBe('POLICY_DENIED')
    ws.seen.set(ws.at('old.txt'), sha256('old'))
    await cautious.writeText('old.txt', 'new', overwrite)
    await cautious.writeText('old.txt', 'newer', overwrite)
    expect(ws.text('old.txt')).toBe('newer')
    expect(ws.names()).toEqual(['old.txt'])
  })

  it('needs policy at the moment of use, unless the run has read it', async () => {
    const permits = (path: string, access: string) => {
      if (access === 'overwrite') throw new ToolError('POLICY_DENIED', `${access} ${path}`)
    }
    expect(await outcome(ws.handle({ permits }).writeText('old.txt', 'new', overwrite))).toBe('POLICY_DENIED')
    ws.seen.set(ws.at('old.txt'), sha256('old'))
    expect(await outcome(ws.handle({ permits }).writeText('old.txt', 'new', overwrite))).toBe('ok')
  })

  it('must still hold what it is to replace', async () => {
    const handle = ws.handle()
    await expect(handle.writeText('old.txt', 'new', { replaces: sha256('other') })).rejects.toThrow(/changed since/)
    expect(await outcome(handle.writeText('gone.txt', 'new', { replaces: sha256('old') }))).toBe('CONFLICT')
    expect(await outcome(handle.writeText('old.txt', 'new', { replaces: sha256('old') }))).toBe('ok')
    const cautious = ws.handle({ canOverwrite: false, seen: new Map() })
    expect(await outcome(cautious.writeText('old.txt', 'x', { replaces: sha256('new') }))).toBe('POLICY_DENIED')
  })

  it('is not replaced when somebody writes to it after the last look', async () => {
    const { journal } = ws
    const meddling = Object.assign(Object.create(journal), {
      intend: async () => writeFileSync(ws.at('old.txt'), 'other'),
    })
    expect(await outcome(ws.handle({ journal: meddling }).writeText('old.txt', 'new', overwrite))).toBe('CONFLICT')
    expect(ws.text('old.txt')).toBe('other')
    expect(ws.names()).toEqual(['old.txt'])
  })

  it('keeps its mode bits, but never setuid', async () => {
    chmodSync(ws.at('old.txt'), 0o4751)
    await ws.handle().writeText('old.txt', 'new', overwrite)
    expect(statSync(ws.at('old.txt')).mode & 0o7777).toBe(0o751)
  })

  it.skipIf(process.getuid?.() !== 0)('stays with its owner', async () => {
    chownSync(ws.at('old.txt'), 1234, 2345)
    await ws.handle().writeText('old.txt', 'new', overwrite)
    expect(statSync(ws.at('old.txt'))).toMatchObject({ uid: 1234, gid: 2345, mode: 0o100644 })
  })

  it('of a terabyte is replaced immediately, and it is said that it was not kept', async () => {
    truncateSync(ws.at('old.txt'), 2 ** 40)
    await ws.handle().writeText('old.txt', 'new', overwrite)
    expect(ws.text('old.txt')).toBe('new')
    expect(ws.notices).toEqual([expect.stringMatching(/cannot be undone: its 1099511627776 bytes are over/)])
  })

  it('is written in the order of the calls by a hundred writers', async () => {
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => ws.handle().writeText('old.txt', `${index}`, overwrite)),
    )
    expect(ws.text('old.txt')).toBe('99')
    const befores = ws.journal.changes.map((change) => 'before' in change && change.before.sha256)
    expect(befores).toEqual(['old', ...Array.from({ length: 99 }, (_, index) => `${index}`)].map(sha256))
  })
})

describe('what cannot be undone', () => {
  it('is said, with the reason, and put on record', async () => {
    ws.journal.refusal = 'it is too large'
    await ws.handle().writeText('old.txt', 'new', overwrite)
    expect(ws.notices).toEqual([`The change of "${ws.at('old.txt')}" cannot be undone: it is too large.`])
    expect(ws.journal.changes).toEqual([expect.objectContaining({ notUndoable: 'it is too large' })])
  })

  it('is said once a call when nothing is kept at all', async () => {
    const handle = ws.handle({ journal: undefined })
    await handle.writeText('p/x.txt', 'x')
    await handle.writeText('old.txt', 'new', overwrite)
    expect(ws.notices).toEqual(['This change cannot be undone: nothing is kept of changes here.'])
    expect(ws.text('old.txt')).toBe('new')
  })

  it('happens not at all when the record cannot be written', async () => {
    const journal = Object.assign(Object.create(ws.journal), {
      intend: async () => {
        throw new ToolError('RECORDS_UNAVAILABLE', 'full')
      },
    })
    expect(await outcome(ws.handle({ journal }).writeText('old.txt', 'new', overwrite))).toBe('RECORDS_UNAVAILABLE')
    expect(await outcome(ws.handle({ journal }).writeText('p/new.txt', 'new'))).toBe('RECORDS_UNAVAILABLE')
    expect(ws.names()).toEqual(['old.txt'])
    expect(ws.text('old.txt')).toBe('old')
  })
})

describe('what is refused', () => {
  it('writes through no link, not in a folder and not at the end', async () => {
    symlinkSync('../out', ws.at('d'))
    symlinkSync('../out/secret.txt', ws.at('l'))
    symlinkSync('old.txt', ws.at('inside'))
    for (const path of ['d/new.txt', 'd/p/q.txt', 'l', 'd/secret.txt']) {
      expect(await outcome(ws.handle().writeText(path, 'x', overwrite))).toBe('PATH_OUTSIDE_SANDBOX')
    }
    await expect(ws.handle().writeText('inside', 'x', overwrite)).rejects.toThrow(
      expect.objectContaining({ code: 'PATH_DENIED', fix: { hint: expect.stringContaining(ws.at('old.txt')) } }),
    )
    expect(ws.outside()).toEqual(['secret.txt: SECRET'])
    expect(readlinkSync(ws.at('inside'))).toBe('old.txt')
  })

  it('replaces no folder, pipe or protected file', async () => {
    execFileSync('mkfifo', [ws.at('pipe')])
    mkdirSync(ws.at('folder'))
    const write = (path: string) => outcome(ws.handle().writeText(path, 'x', overwrite))
    expect(await write('pipe')).toBe('PATH_DENIED')
    expect(await write('folder')).toBe('INPUT_SCHEMA_INVALID')
    expect(await write('new/')).toBe('INPUT_SCHEMA_INVALID')
    expect(await write('.')).toBe('INPUT_SCHEMA_INVALID')
    expect(await write('old.txt/x')).toBe('NOT_FOUND')
    expect(await write('.git/hooks/pre-commit')).toBe('PATH_DENIED')
    expect(await write('x'.repeat(256))).toBe('INPUT_SCHEMA_INVALID')
    expect(ws.names()).toEqual(['folder', 'old.txt', 'pipe'])
  })

  it('refuses text that UTF-8 cannot hold, and more than the limit', async () => {
    expect(await outcome(ws.handle().writeText('x.txt', 'a\udc00'))).toBe('INPUT_SCHEMA_INVALID')
    expect(await outcome(ws.handle().writeText('fine.txt', 'a\ufffd𝄞'))).toBe('ok')
    await expect(ws.handle({ maxBytes: 3 }).writeText('p/x.txt', 'éé')).rejects.toThrow(/4 bytes, the limit is 3/)
    expect(ws.names()).toEqual(['fine.txt', 'old.txt'])
  })

  it('asks for permission before it makes anything', async () => {
    const permits = (path: string, access: string) => {
      throw new ToolError('POLICY_DENIED', `${access} ${path}`)
    }
    await expect(ws.handle({ permits }).writeText('p/q.txt', 'x')).rejects.toThrow(`write ${ws.at('p/q.txt')}`)
    expect(ws.names()).toEqual(['old.txt'])
  })
})

describe('being stopped', () => {
  it('leaves the old file and no draft at whichever step it comes', async () => {
    const outcomes = new Set<string>()
    for (let step = 0; step < 60; step += 1) {
      const stop = new AbortController()
      let asked = 0
      // The signal is looked at before each step: it is stopped at the first look, the second, and so on.
      const signal = () => {
        asked += 1
        if (asked > step) stop.abort()
        return stop.signal
      }
      const writing = ws.handle({ signal }).writeText('p/old.txt', 'x'.repeat(100_000), overwrite)
      const result = await outcome(writing)
      outcomes.add(result)
      expect(ws.names()).toEqual(result === 'ok' ? ['old.txt', 'p', 'p/old.txt'] : ['old.txt'])
      if (result === 'ok') break
    }
    expect(outcomes).toEqual(new Set(['ABORTED', 'ok']))
  })

  it('in the middle of much content leaves the old file', async () => {
    const stop = new AbortController()
    const writing = ws.handle({ signal: () => stop.signal }).writeText('old.txt', 'x'.repeat(64_000_000), overwrite)
    setImmediate(() => stop.abort(new ToolError('TIMEOUT', 'The time is over.')))
    await expect(writing).rejects.toThrow(code('TIMEOUT'))
    expect(ws.text('old.txt')).toBe('old')
    expect(ws.names()).toEqual(['old.txt'])
  })

  it('by the end of the guard finishes what began, and begins nothing more', async () => {
    const writes = [ws.handle().writeText('a.txt', 'a'), ws.handle().writeText('a.txt', 'b', overwrite)]
    ws.filesRoot.roots.close()
    const [first, second] = await Promise.all(writes.map(outcome))
    expect([first, second]).toEqual(['ok', 'SANDBOX_UNAVAILABLE'])
    expect(ws.text('a.txt')).toBe('a')
  })
})

it('closes every descriptor', async () => {
  const before = countOpenFiles()
  for (let round = 0; round < 10; round += 1) {
    const paths = [`p${round}/q/r.txt`, 'old.txt', 'old.txt/x', '../out/x', `s${round}.txt`]
    await Promise.all(paths.map((path) => outcome(ws.handle().writeText(path, 'x'))))
  }
  // Another test file of this process may have left some to the garbage collector: fewer is fine.
  expect(countOpenFiles()).toBeLessThanOrEqual(before)
  expect(readFileSync(join(ws.base, 'out/secret.txt'), 'utf8')).toBe('SECRET')
})

it('leaves immediately when it is stopped while another write of the file hangs', async () => {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  async function* slow() {
    await released
    yield Buffer.from('slow')
  }
  const first = ws.handle().writeBytes('w.txt', slow())
  const stop = new AbortController()
  const second = ws.handle({ signal: () => stop.signal }).writeText('w.txt', 'second')
  stop.abort()
  expect(await outcome(second)).toBe('ABORTED')
  release()
  await first
  expect(ws.text('w.txt')).toBe('slow')
})
