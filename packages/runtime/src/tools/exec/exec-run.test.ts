import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import type { CommandResult } from './command-result.ts'
import { execProcess } from './exec-process.ts'
import { execRun } from './exec-run.ts'

const RUN = 'core/exec.run'
const hubOf = (files = {}, options = {}) =>
  fileHub(files, { tools: [execRun, execProcess], policy: [{ allow: 'exec' }], ...options })
const dataOf = (result: { data?: unknown }) => result.data as CommandResult

describe('core/exec.run', () => {
  it('runs words without a shell: nothing in them is special', async () => {
    const { call } = hubOf()
    const result = await call(RUN, { argv: ['printf', '%s|', '$HOME', '`id`', 'a b', '*'] })
    expect(result.data).toMatchObject({ stdout: '$HOME|`id`|a b|*|', stderr: '', exitCode: 0, sandbox: 'full' })
  })

  it('runs a line by bash, with stdout, stderr, both in order, and the exit code', async () => {
    const { call } = hubOf()
    const { data } = await call(RUN, { command: 'echo out; echo err >&2; [[ a == a ]] && echo bash' })
    expect(data).toMatchObject({ stdout: 'out\nbash\n', stderr: 'err\n', exitCode: 0, timedOut: false })
    expect(dataOf({ data }).tail.split('\n').sort()).toEqual(['', 'bash', 'err', 'out'])
  })

  it.each(['bash', 'exec', 'run_shell', RUN])(
    'shows a model both ends of a long output as %s, at most 30,000 characters',
    async (name) => {
      const { call, text } = hubOf()
      for (const last of [8_000, 200_000]) {
        const shown = await text(name, { command: `seq 1 ${last}` })
        expect(shown.length).toBeLessThanOrEqual(30_000)
        expect(shown.startsWith('1\n2\n3\n')).toBe(true)
        expect(shown.trimEnd().endsWith(`\n${last - 1}\n${last}`)).toBe(true)
        expect(shown).toMatch(
          /\[.*(?:artifact|all of it): ?\S*artifact:[0-9a-f]{64}|the whole is artifact:[0-9a-f]{64}/,
        )
      }
      const { data } = await call(name, { command: 'seq 1 200000' })
      expect(dataOf({ data }).head).toMatch(/^1\n2\n/)
    },
  )

  it.each(['bash', 'exec', 'run_shell'])(
    'counts characters, not bytes, and says how much is left out, as %s',
    async (name) => {
      const { text } = hubOf({ 'long.txt': `${'😀汉'.repeat(40_000)}\n`, 'fits.txt': `${'汉'.repeat(29_000)}\n` })
      const shown = await text(name, { command: 'cat long.txt' })
      expect(shown.length).toBeLessThanOrEqual(30_000)
      expect(shown.length).toBeGreaterThan(29_000)
      expect(shown.startsWith('😀汉')).toBe(true)
      expect(shown.trimEnd().endsWith('😀汉')).toBe(true)
      expect(shown).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
      const [note = '', count = ''] = /\[… ([\d,]+) bytes of output are left out here.*\]/.exec(shown) ?? []
      const left = Buffer.byteLength(shown.replace(`\n${note}\n`, ''))
      expect(Math.abs(Number(count.replaceAll(',', '')) + left - 280_001)).toBeLessThan(5)
      expect((await text(name, { command: 'cat fits.txt' })).trimEnd()).toBe('汉'.repeat(29_000))
    },
  )

  it('continues in the background after 10 s, by both names that agents know', () => {
    const { coding, shell } = execRun.dialects!
    for (const input of [{ command: 'x' }, { command: 'x', yieldMs: 50 }, { command: 'x', background: true }])
      expect(shell!.toInput!(input)).toEqual(coding!.toInput!(input))
    expect(shell!.toInput!({ command: 'x' })).toEqual({ command: 'x', yieldMs: 10_000 })
  })

  it('works in the root, or in a folder below it, and writes there', async () => {
    const { call, read } = hubOf({ 'sub/a.txt': 'A' })
    expect(dataOf(await call(RUN, { argv: ['cat', 'a.txt'], cwd: 'sub' })).stdout).toBe('A')
    await call(RUN, { command: 'echo new > sub/b.txt' })
    expect(read('sub/b.txt')).toBe('new\n')
  })

  it.each([
    ['outside the roots', { argv: ['true'], cwd: '/etc' }, 'PATH_OUTSIDE_SANDBOX'],
    ['by dots', { argv: ['true'], cwd: '../..' }, 'PATH_OUTSIDE_SANDBOX'],
    ['that is not there', { argv: ['true'], cwd: 'nowhere' }, 'NOT_FOUND'],
    ['without a command', {}, 'INPUT_SCHEMA_INVALID'],
    ['with both forms', { argv: ['true'], command: 'true' }, 'INPUT_SCHEMA_INVALID'],
    ['with a NUL in a word', { argv: ['echo', 'a\0b'] }, 'INPUT_SCHEMA_INVALID'],
    ['with a NUL in a line', { command: 'echo a\0b' }, 'INPUT_SCHEMA_INVALID'],
    ['with another PATH', { argv: ['true'], env: { PATH: '/evil' } }, 'INPUT_SCHEMA_INVALID'],
    ['with a preload', { argv: ['true'], env: { LD_PRELOAD: './x.so' } }, 'INPUT_SCHEMA_INVALID'],
    ['with options for node', { argv: ['true'], env: { NODE_OPTIONS: '-r ./x' } }, 'INPUT_SCHEMA_INVALID'],
    ['with more than ten minutes', { argv: ['true'], timeout: 600_001 }, 'INPUT_SCHEMA_INVALID'],
    ['with a negative time', { argv: ['true'], timeout: -1 }, 'INPUT_SCHEMA_INVALID'],
    ['a program that is missing', { argv: ['no-such-program'] }, 'NOT_FOUND'],
    ['a file that is not a program', { argv: ['./a.txt'] }, 'EXEC_FAILED'],
  ])('refuses to run %s', async (_, input, code) => {
    const { call } = hubOf({ 'a.txt': 'text' })
    expect((await call(RUN, input)).error?.code).toBe(code)
  })

  it('gives stdin, and variables that run nothing', async () => {
    const { call } = hubOf()
    const result = await call(RUN, { command: 'cat; echo "$COLOUR"', stdin: 'in\n', env: { COLOUR: 'red' } })
    expect(dataOf(result).stdout).toBe('in\nred\n')
  })

  it('fails with EXEC_FAILED and all of the output when the command fails', async () => {
    const { call } = hubOf()
    const result = await call(RUN, { command: 'echo half; echo why >&2; exit 7' })
    expect(result).toMatchObject({
      ok: false,
      status: 'error',
      error: { code: 'EXEC_FAILED', message: 'The command failed with exit code 7.' },
      data: { stdout: 'half\n', stderr: 'why\n', exitCode: 7 },
    })
    expect(result.content[0]).toMatchObject({ text: expect.stringContaining('[exit code 7') })
  })

  it('says so when the time is over, with what there is so far', async () => {
    const { call } = hubOf()
    let result = await call('bash', { command: 'echo begun; sleep 600', timeout: 300 })
    // On a busy machine it takes longer until the command has begun.
    for (let timeout = 1_000; dataOf(result).stdout === '' && timeout < 100_000; timeout *= 4)
      result = await call('bash', { command: 'echo begun; sleep 600', timeout })
    expect(result).toMatchObject({
      status: 'timeout',
      error: { code: 'TIMEOUT' },
      data: { stdout: 'begun\n', timedOut: true },
    })
  })

  it('by the name run_shell begins a failure with its exit code', async () => {
    const { call } = hubOf()
    const failed = await call('run_shell', { command: 'echo out; exit 3' })
    expect(failed.content).toEqual([{ type: 'text', text: 'Exit code: 3\nout\n' }])
    expect((await call('run_shell', { command: 'echo out' })).content).toEqual([{ type: 'text', text: 'out\n' }])
  })

  it('by the name run_shell shows both outputs as one, each line in its place', async () => {
    const { call } = hubOf()
    const lines = Array.from({ length: 50 }, (_, index) => `echo a${index}; echo b${index} >&2`).join('; ')
    const shown = Array.from({ length: 50 }, (_, index) => `a${index}\nb${index}\n`).join('')
    const result = await call('run_shell', { command: lines })
    expect(result.content).toEqual([{ type: 'text', text: shown }])
    expect(result.data).toMatchObject({ stdout: shown, stderr: '', tail: shown })
    const canonical = await call(RUN, { argv: ['bash', '-c', lines], mergeStderr: true })
    expect(canonical.data).toMatchObject({ stdout: shown, stderr: '', tail: shown })
  })

  it('keeps everything past the limit in an artifact', async () => {
    const { call, hub } = hubOf()
    const result = await call(RUN, { command: 'seq 1 100000' })
    const [artifact] = result.artifacts
    expect(dataOf(result)).toMatchObject({ artifact: artifact!.ref, bytes: 588_895 })
    expect(dataOf(result).stdout).toMatch(/\n100000\n$/)
    const whole = Buffer.from(await hub.artifact(artifact!.ref)).toString()
    expect(whole.startsWith('1\n2\n') && whole.length).toBe(588_895)
  })

  it('streams output as it comes, and says by which stream', async () => {
    const { hub } = hubOf()
    const told: unknown[] = []
    for await (const event of hub.stream(RUN, { command: 'printf "h\\303"; printf "\\251\\n"; echo err >&2' })) {
      if (event.type === 'call-progressed') told.push(...event.content)
    }
    const text = (stream: string) =>
      told
        .filter((block) => (block as { stream?: string }).stream === stream)
        .map((block) => (block as { text: string }).text)
        .join('')
    expect([text('stdout'), text('stderr')]).toEqual(['hé\n', 'err\n'])
  })

  it('ends the command when its caller stops', async () => {
    const { hub } = hubOf()
    const controller = new AbortController()
    const stopped = []
    for await (const event of hub.stream(RUN, { command: 'echo ready; sleep 60' }, { signal: controller.signal })) {
      if (event.type === 'call-progressed') controller.abort()
      if (event.type === 'call-ended') stopped.push(event.result.status)
    }
    expect(stopped).toEqual(['aborted'])
  })

  it('gives it a terminal when asked', async () => {
    const { call } = hubOf()
    expect(dataOf(await call(RUN, { command: 'test -t 1 && echo terminal', pty: true })).stdout).toBe('terminal\n')
    expect((await call(RUN, { command: 'test -t 1' })).ok).toBe(false)
  })

  it('is recorded with its sandbox level, and before it starts', async () => {
    const { call, hub } = hubOf()
    const { callId } = await call(RUN, { argv: ['true'] })
    const events = readEvents(hub)
    expect(events.filter((event) => event.callId === callId)).toMatchObject([
      { type: 'call-started', sandbox: 'full', targets: ['exec true'] },
      { type: 'call-ended', status: 'ok' },
    ])
  })
})

function readEvents(hub: { folder: string; run: string }): Record<string, unknown>[] {
  const text = readFileSync(join(hub.folder, 'runs', hub.run, 'events.jsonl'), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
