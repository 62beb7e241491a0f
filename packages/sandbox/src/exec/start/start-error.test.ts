import { describe, expect, it } from 'vitest'
import { noSandbox, workspace } from '../../../../../test/support/made-sandboxes.ts'
import { lostError, type StartFailure, startError } from './start-error.ts'
import type { StartRequest } from './starter.ts'

const order = (parts: Partial<StartRequest> = {}): StartRequest => ({
  ...{ sandbox: { ...noSandbox(), env: { PATH: '/usr/bin' } }, words: ['tool', 'x'], cwd: '/', env: {}, pty: false },
  ...parts,
})
const failure = (reason: string, stderr = ''): StartFailure => ({ kind: 'refused', reason, stderr })
const INTERPRETER = 'its interpreter does not exist in the sandbox'

describe('why a command did not start', () => {
  it.each([
    ['cwd', '', 'tool', 'NOT_FOUND', 'The folder to run in does not exist: "/"'],
    ['missing', '', 'tool', 'NOT_FOUND', 'program not found: "tool"'],
    ['directory', '', '/etc', 'EXEC_FAILED', '"/etc" is a directory.'],
    ['denied', '', './x', 'EXEC_FAILED', '"./x" is not executable.'],
    [
      'no-terminal',
      '',
      'x',
      'SANDBOX_UNAVAILABLE',
      'A terminal needs the program script, which is not installed on this machine.',
    ],
    ['exec 127', '', 'tool', 'NOT_FOUND', 'program not found: "tool"'],
    ['exec 127', '', './x', 'EXEC_FAILED', `"./x" cannot be run: ${INTERPRETER}.`],
    ['exec 126', 'sh: exec: ./x: Exec format error\n', './x', 'EXEC_FAILED', '"./x" cannot be run: Exec format error.'],
    ['exec 126', '', './x', 'EXEC_FAILED', '"./x" cannot be run: exec 126.'],
  ])('is reported for %j', async (reason, words, program, code, message) => {
    expect(await startError(failure(reason, words), order({ words: [program] }))).toMatchObject({ code, message })
  })

  it.each([
    ['cwd', 'x', 'It may have been deleted. Choose another cwd.'],
    ['denied', 'x', 'Make it executable, or run its interpreter.'],
    ['no-terminal', 'x', 'Install util-linux (on Debian bsdutils), or run the command without pty.'],
    ['exec 127', './x', 'Look at its first line.'],
    ['missing', 'x', 'Searched in /usr/bin.'],
  ])('comes with what to do for %j', async (reason, program, hint) => {
    expect((await startError(failure(reason), order({ words: [program] }))).fix.hint).toBe(hint)
  })

  it('says where a program was looked for, and what a sandbox shows', async () => {
    const hint = async (parts: Partial<StartRequest>) => (await startError(failure('missing'), order(parts))).fix.hint
    const full = { ...noSandbox(), level: 'full' as const, env: { PATH: '/usr/bin' } }
    const shown = 'The sandbox shows only /usr and the granted folders.'
    expect(await hint({ env: { PATH: '/own' } })).toBe('Searched in /own.')
    expect(await hint({ sandbox: { ...noSandbox(), env: {} } })).toBe('Searched in no folder.')
    expect(await hint({ sandbox: full })).toBe(`Searched in /usr/bin. ${shown}`)
    expect(await hint({ sandbox: full, words: ['/opt/x'] })).toBe(shown)
  })

  it('is the folder that has gone, before the sandbox that should have shown it', async () => {
    const broken = { kind: 'broken', reason: 'bwrap: no such file\nmore', stderr: '' } as const
    const cwd = await workspace()
    expect(await startError(broken, order({ cwd: `${cwd}/none` }))).toMatchObject({
      ...{ code: 'NOT_FOUND', message: `The folder to run in does not exist: "${cwd}/none"` },
    })
    expect(await startError(broken, order({ cwd: '/etc/passwd' }))).toMatchObject({ code: 'NOT_FOUND' })
    expect(await startError(broken, order({ cwd }))).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: 'The sandbox did not start: bwrap: no such file',
      fix: { hint: 'Run tool-hub doctor to see what the sandbox needs on this machine.' },
      details: { program: '/usr/bin/prlimit', said: 'bwrap: no such file\nmore' },
    })
  })

  it('is that nothing more can be opened, or that its starter has ended', async () => {
    const cause = Object.assign(new Error('too many'), { code: 'EMFILE' })
    const broken = { kind: 'broken', reason: 'too many', stderr: '', cause } as const
    expect(await startError(broken, order())).toMatchObject({ code: 'OUT_OF_RESOURCES' })
    const lost = {
      code: 'EXEC_FAILED',
      message: 'The command was lost: the process that starts commands has ended.',
      fix: { hint: 'Check what the command has done so far, then run it again.' },
      details: { how: 'killed' },
    }
    expect(await startError({ kind: 'lost', reason: 'killed', stderr: '' }, order())).toMatchObject(lost)
    expect(lostError('killed')).toMatchObject(lost)
  })
})
