import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fileHub } from '../../../../../../test/support/file-hub.ts'
import type { ApprovalRequest } from '../../../../../core/src/events.ts'
import type { HubOptions } from '../../../../../core/src/options.ts'
import { type Capability, defineTool, type ReadContext, type TextChange } from '../../../../../core/src/tool.ts'
import { fakeClock } from '../../../../../testing/src/fake-clock.ts'

type Preview = (input: { path: string }, ctx: ReadContext) => readonly TextChange[] | Promise<readonly TextChange[]>

/** Calls a tool with this preview, which is asked, and gives what the approver saw. */
async function ask(preview: Preview | undefined, options: HubOptions = {}, capability: Capability = 'write:fs') {
  const tool = defineTool({
    name: 'notes.save',
    description: 'Save a note.',
    input: z.strictObject({ path: z.string() }),
    capabilities: [capability],
    targets: ({ path }) => ({ [capability]: path }),
    ...(preview && { preview }),
    execute: ({ path }) => ({ path }),
  })
  const requests: ApprovalRequest[] = []
  const { call, hub, root } = fileHub(FILES, {
    tools: [tool],
    policy: [{ ask: 'notes.save' }],
    approve: (request) => {
      requests.push(request)
      return { decision: 'allow' }
    },
    ...options,
  })
  return { call: (path: string) => call('notes.save', { path }), requests, hub, root }
}

const FILES = { 'a.txt': 'old\n', 'other.txt': 'other\n', 'kept/a.txt': 'kept\n', 'folder/a.txt': 'below\n' }

const replaced: Preview = async ({ path }, { fs }) => [{ path, before: await fs.readText(path), after: 'new\n' }]
const DIFF = '@@ -1,1 +1,1 @@\n-old\n+new'

describe('what an approver sees of the files of a call', () => {
  it('is what the tool would make of them', async () => {
    const { call, requests } = await ask(replaced)
    expect(await call('a.txt')).toMatchObject({ ok: true, data: { path: 'a.txt' } })
    expect(requests[0]!.views).toEqual([
      { kind: 'diff', path: 'a.txt', diff: `--- a.txt\n+++ a.txt\n${DIFF}`, isNew: false },
    ])
  })

  it('is looked for only when somebody is asked', async () => {
    let count = 0
    const counted: Preview = () => {
      count++
      return []
    }
    const { call } = await ask(counted, { policy: [{ allow: 'notes.save' }] })
    expect((await call('a.txt')).ok).toBe(true)
    expect(count).toBe(0)
  })

  it.each<[string, Preview | undefined]>([
    ['has none', undefined],
    ['throws', () => Promise.reject(new Error('no'))],
    [
      'throws immediately',
      () => {
        throw new Error('no')
      },
    ],
    ['returns nonsense', (() => [{ path: 7 }]) as never],
    [
      'wants to read a file that the call does not name',
      async (_, { fs }) => [{ path: 'x', before: await fs.readText('other.txt'), after: '' }],
    ],
    [
      'wants to read outside the roots',
      async (_, { fs }) => [{ path: 'x', before: await fs.readText('/etc/hostname'), after: '' }],
    ],
    [
      'wants to write',
      async (_, { fs }) => {
        await (fs as never as { writeText(path: string, text: string): Promise<void> }).writeText('a.txt', 'x')
        return []
      },
    ],
  ])('is nothing when the preview %s, and the call continues', async (_, preview) => {
    const { call, requests } = await ask(preview)
    expect((await call('a.txt')).ok).toBe(true)
    expect(requests[0]!.views).toEqual([])
  })

  it('holds nothing of a file that a rule keeps from being read, and does not ask for one that is only asked', async () => {
    const policy: HubOptions['policy'] = [
      { ask: 'notes.save' },
      { deny: 'read:fs', on: '**/kept/**' },
      { ask: 'read:fs' },
    ]
    const { call, requests } = await ask(replaced, { policy })
    expect((await call('kept/a.txt')).ok).toBe(true)
    expect((await call('a.txt')).ok).toBe(true)
    expect(requests.map(({ views }) => views.length)).toEqual([0, 1])
  })

  it('may be of what is below a folder that the call names', async () => {
    const { call, requests } = await ask(async ({ path }, { fs }) => {
      return [{ path, before: await fs.readText(`${path}/a.txt`), after: '' }]
    })
    await call('folder')
    expect(requests[0]!.views).toMatchObject([{ diff: expect.stringContaining('-below') }])
  })

  it('does not change the arguments that are asked about', async () => {
    const { call, requests } = await ask((input) => {
      input.path = 'other.txt'
      return []
    })
    expect(await call('a.txt')).toMatchObject({ ok: true, data: { path: 'a.txt' } })
    expect(requests[0]!.input).toEqual({ path: 'a.txt' })
  })

  it('is given up after two seconds, and its handle is good for nothing then', async () => {
    const clock = fakeClock()
    let start!: (ctx: ReadContext) => void
    const started = new Promise<ReadContext>((resolve) => {
      start = resolve
    })
    const { call, requests } = await ask(
      (_, ctx) => {
        start(ctx)
        return new Promise(() => {})
      },
      { clock },
    )
    const calling = call('a.txt')
    const { fs, signal } = await started
    await clock.advance(1_999)
    expect(signal.aborted).toBe(false)
    await clock.advance(1)
    expect((await calling).ok).toBe(true)
    expect(requests[0]!.views).toEqual([])
    await expect(fs.readText('a.txt')).rejects.toThrow()
  })

  it('does not keep a call that is stopped', async () => {
    const stop = new AbortController()
    const { hub } = await ask(() => {
      stop.abort()
      return new Promise(() => {})
    })
    const result = await hub.callDynamic('notes.save', { path: 'a.txt' }, { signal: stop.signal })
    expect(result.error?.code).toBe('ABORTED')
  })

  it('is bounded in files and in text, and says so', async () => {
    const many = await ask(() =>
      Array.from({ length: 25 }, (_, at) => ({ path: `${at}`, before: undefined, after: 'x' })),
    )
    await many.call('a.txt')
    const { views } = many.requests[0]!
    expect(views).toHaveLength(21)
    expect(views.at(-1)).toMatchObject({ path: '5 more files', diff: expect.stringMatching(/first 20 files/) })

    const much = await ask(() =>
      Array.from({ length: 4 }, (_, at) => ({ path: `${at}`, before: undefined, after: `${'x'.repeat(150_000)}\n` })),
    )
    await much.call('a.txt')
    const diffs = much.requests[0]!.views.map((view) => (view.kind === 'diff' ? view.diff.length > 150_000 : undefined))
    expect(diffs).toEqual([true, true, true, false])
  })

  it('is whole up to 500,000 characters of all files together', async () => {
    const viewed = async (lengths: readonly number[]) => {
      const change = (length: number, at: number) => ({ path: `${at}`, before: undefined, after: 'x'.repeat(length) })
      const asked = await ask(() => lengths.map(change))
      await asked.call('a.txt')
      return asked.requests[0]!.views.map((view) => (view.kind === 'diff' ? view.diff : ''))
    }
    const [one] = await viewed([1_000])
    const most = 125_000 - (one!.length - 1_000)
    const whole = (diffs: readonly string[]) => diffs.map((diff) => diff.startsWith('--- '))
    expect(whole(await viewed([most, most, most, most]))).toEqual([true, true, true, true])
    expect(whole(await viewed([most, most, most, most + 1]))).toEqual([true, true, true, false])
  })

  it('may be of a file that the call only reads', async () => {
    const { call, requests } = await ask(replaced, {}, 'read:fs')
    await call('a.txt')
    expect(requests[0]!.views).toMatchObject([{ kind: 'diff', diff: expect.stringContaining(DIFF) }])
  })

  it('is looked at with a handle that cannot write, and that is good for nothing afterwards', async () => {
    let kept: ReadContext['fs'] | undefined
    const keeping: Preview = async (input, ctx) => {
      kept = ctx.fs
      return replaced(input, ctx)
    }
    const { call, requests } = await ask(keeping)
    await call('a.txt')
    expect(requests[0]!.views).toHaveLength(1)
    const writes = ['writeText', 'writeFile', 'mkdir', 'move', 'copy', 'delete', 'remove'].filter(
      (name) => name in kept!,
    )
    expect(writes).toEqual([])
    await expect(kept!.readText('a.txt')).rejects.toThrow()
  })
})
