import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { eventually } from '../support/eventually.ts'
import { realHub } from '../support/real-hub.ts'

describe('the tools of a tool module', () => {
  it('run_shell: combined output in its order, the exit code of a failure, 10 MB, no hidden commands', async () => {
    const files = { 'sub/a.txt': 'A', 'large.txt': 'x'.repeat(10 * 1024 * 1024) }
    const policy = [{ allow: 'run_shell', on: ['echo *', 'exit *', 'cat *'] }]
    const { hub, call, text } = realHub({ policy }, files)
    expect(await text('run_shell', { command: 'echo a; echo b >&2; echo c' })).toBe('a\nb\nc\n')
    expect(await text('run_shell', { command: 'cat a.txt', cwd: 'sub' })).toBe('A')
    const failed = await call('run_shell', { command: 'echo out; echo err >&2; exit 3' })
    expect(failed).toMatchObject({ ok: false, content: [{ text: 'Exit code: 3\nout\nerr\n' }] })
    for (const command of ['echo $(rm -rf sub)', 'echo a; rm -rf sub', 'echo `id`'])
      expect((await call('run_shell', { command })).status, command).toBe('denied')
    const clock = fakeClock()
    const slow = realHub({ policy: [{ allow: 'exec' }], clock })
    const events: string[] = []
    const onEvent = ({ type }: { type: string }) => void events.push(type)
    const running = slow.call('run_shell', { command: 'echo begun; sleep 600' }, { onEvent })
    // Its output reaches the hub's events after its time has begun to count; a file could exist before that.
    await eventually(() => expect(events).toContain('call-progressed'))
    await clock.advance(59_999)
    expect(await Promise.race([running, 'still running'])).toBe('still running')
    await clock.advance(1)
    expect((await running).error).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('60000 ms') })
    const large = await call('run_shell', { command: 'cat large.txt' })
    expect((await hub.artifact(large.artifacts[0]!.ref)).length).toBe(10 * 1024 * 1024)
  })
})
