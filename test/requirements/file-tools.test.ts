import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../../packages/core/src/context.ts'
import { type Hub, toExecutorResult } from '../../packages/library/src/index.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MB = 1024 * 1024

/** The parameters that a model sees of a tool in the dialect of the document. */
const parametersOf = (hub: Hub, tool: string) =>
  hub.registry.listForLLM({ dialect: 'files' }).find(({ name }) => name === tool)?.parameters

/** The times that a hub waits for during a call, its time limit among them. */
async function timeLimits(tool: string, input: object): Promise<readonly number[]> {
  const clock = fakeClock()
  const times: number[] = []
  const after: Clock['after'] = (ms, callback) => {
    times.push(ms)
    return clock.after(ms, callback)
  }
  const { data } = realHub({ clock: { ...clock, after } }, { 'a.txt': 'a\n' })
  // The first call also starts what the hub does from time to time.
  await data(tool, input)
  times.length = 0
  await data(tool, input)
  return times
}

describe('the built-in tools of a tool module', () => {
  it('read_file: path, start_line and end_line, 10 s, 1 MB, a last check of the path, errors as results', async () => {
    const secret = join(temporaryFolder(), 'secret.txt')
    writeFileSync(secret, 'the secret')
    const files = { 'a.txt': 'one\ntwo\nthree\n', 'mb.txt': `${'x'.repeat(99)}\n`.repeat(10_485) }
    const { hub, root, call, text, data } = realHub({}, files)
    const read = async (args: object) => (await data('read_file', { path: 'a.txt', ...args })).text
    expect(await text('read_file', { path: 'a.txt' })).toBe('one\ntwo\nthree\n')
    expect(await read({ start_line: 2 })).toBe('two\nthree')
    expect(await read({ end_line: 1 })).toBe('one')
    expect(await read({ start_line: 2, end_line: 2 })).toBe('two')
    expect(await text('read_file', { path: 'a.txt', start_line: 2, end_line: 2 })).toMatch(/^two\n\n\[.*lines 2-2 of 3/)
    expect(await text('read_file', { path: 'mb.txt' })).toBe(files['mb.txt'])
    expect(parametersOf(hub, 'read_file')).toMatchObject({
      type: 'object',
      properties: { path: { type: 'string' }, start_line: { type: 'integer' }, end_line: { type: 'integer' } },
      required: ['path'],
    })
    expect(hub.registry.get('read_file')?.dialects?.files).toMatchObject({ name: 'read_file', timeoutMs: 10_000 })
    expect(await timeLimits('read_file', { path: 'a.txt' })).toContain(10_000)
    expect((await call('read_file', {})).error?.code).toBe('INPUT_SCHEMA_INVALID')
    symlinkSync(secret, join(root, 'link.txt'))
    for (const path of [secret, 'link.txt', '../root/../../etc/passwd'])
      expect((await call('read_file', { path })).error?.code, path).toBe('PATH_OUTSIDE_SANDBOX')
    const missing = toExecutorResult(await call('read_file', { path: 'missing.txt' }), 'call_1')
    expect(missing).toMatchObject({ tool_call_id: 'call_1', is_error: true })
    expect(missing.content).toMatch(/missing\.txt"? does not exist/)
  })

  it('search_files: a regular expression, a path, a file pattern, 30 s, 1 MB', async () => {
    const many = `a match ${'x'.repeat(100)}\n`.repeat(900)
    const files = { 'src/a.go': 'func main() {\n}\n', 'src/b.md': 'func in words\n', 'c.go': 'func other() {}\n', many }
    const { hub, call, text } = realHub({}, files)
    const search = async (args: object) => (await text('search_files', args)).split('\n').sort()
    expect(await search({ pattern: '^func \\w+' })).toEqual([
      'c.go:1:func other() {}',
      'src/a.go:1:func main() {',
      'src/b.md:1:func in words',
    ])
    expect(await search({ pattern: '^func \\w+', path: 'src' })).toHaveLength(2)
    expect(await search({ pattern: '^func \\w+', path: 'src', file_pattern: '*.go' })).toEqual([
      'src/a.go:1:func main() {',
    ])
    expect(await search({ pattern: 'ma.ch x+$' })).toEqual(
      Array(900).fill(expect.stringMatching(/^many:\d+:a match x{100}$/)),
    )
    expect((await call('search_files', { pattern: 'no such thing' })).ok).toBe(true)
    expect((await call('search_files', { pattern: '(' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect(parametersOf(hub, 'search_files')).toMatchObject({
      properties: { pattern: { type: 'string' }, path: { default: '.' }, file_pattern: { type: 'string' } },
      required: ['pattern'],
    })
    expect(await timeLimits('search_files', { pattern: 'a' })).toContain(30_000)
  })

  it('write_file writes a file, list_files lists a folder, and both are in the dialect of the others', async () => {
    const { hub, call, text, read, root } = realHub({}, { 'src/a.go': 'package a\n' })
    expect((await call('write_file', { path: 'docs/new.md', content: '# New\n' })).ok).toBe(true)
    expect(read('docs/new.md')).toBe('# New\n')
    expect(await text('list_files', {})).toBe('docs/\nsrc/')
    expect(await text('list_files', { path: 'src' })).toMatch(/^a\.go\b/)
    const outside = join(temporaryFolder(), 'x.txt')
    expect((await call('write_file', { path: outside, content: 'x' })).error?.code).toBe('PATH_OUTSIDE_SANDBOX')
    expect([existsSync(outside), existsSync(join(root, 'docs/new.md'))]).toEqual([false, true])
    const names = hub.registry.listForLLM({ dialect: 'files' }).map(({ name }) => name)
    for (const name of ['read_file', 'write_file', 'search_files', 'run_shell', 'list_files'])
      expect(names.filter((each) => each === name)).toEqual([name])
  })

  it('a file over the limit is never cut in silence: what is missing is stated, and can be read', async () => {
    const large = Array.from({ length: 200_000 }, (_, index) => `line ${index + 1}\n`).join('')
    const { call, text, hub } = realHub({ policy: [{ allow: 'exec', on: ['cat *'] }] }, { 'large.txt': large })
    let read = ''
    let from: number | undefined = 1
    while (from !== undefined) {
      const page = await text('read_file', { path: 'large.txt', start_line: from })
      const [, shown, next]: RegExpExecArray =
        /^(.*)\n\n\[Showing lines \d+-\d+ of 200000\.(?: .*start_line=(\d+).*)?\]$/s.exec(page)!
      expect(shown!.length).toBeLessThanOrEqual(MB)
      read += `${shown}\n`
      from = next === undefined ? undefined : Number(next)
    }
    expect(read === large).toBe(true)
    const whole = await call('core/fs.readText', { path: 'large.txt', maxBytes: MB })
    expect(whole.error).toMatchObject({ code: 'FILE_TOO_LARGE' })
    const printed = await call('run_shell', { command: 'cat large.txt' })
    expect(Buffer.from(await hub.artifact(printed.artifacts[0]!.ref)).toString() === large).toBe(true)
    expect(await text('read_file', { path: printed.artifacts[0]!.ref, start_line: 200_000 })).toMatch(/^line 200000\n/)
  })
})
