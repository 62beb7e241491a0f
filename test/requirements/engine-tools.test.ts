import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MAX_TOOL_OUTPUT_LENGTH, truncateOutput } from '../../packages/library/src/index.ts'
import { fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { eventually } from '../support/eventually.ts'
import { useLoopback } from '../support/loopback.ts'
import { LOOPBACK, realHub } from '../support/real-hub.ts'

const EXEC = { policy: [{ allow: 'exec' }] }
const local = useLoopback()

describe('the built-in tools of an engine', () => {
  it('there are eight, each with its category, and each works', async () => {
    const hit = { title: 'Rye', url: 'https://rye.example/', content: 'About rye.', score: 1 }
    local.answer = (_, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ results: [hit] }))
    const { hub, text, read } = realHub(
      {
        ...EXEC,
        sandbox: LOOPBACK,
        web: { search: { provider: 'tavily', url: `http://127.0.0.1:${local.port}` } },
        secrets: { tavily: { value: 'tvly-0123456789', hosts: ['127.0.0.1'] } },
        onClarificationRequest: ({ question }) => `answer to: ${question}`,
      },
      { 'a.txt': 'one\ntwo\nthree\ntwo\n' },
    )
    const categories = {
      read: 'read',
      write: 'write',
      edit: 'write',
      grep: 'search',
      ls: 'read',
      bash: 'execute',
      tavily: 'search',
      clarify: 'other',
    }
    for (const [name, category] of Object.entries(categories))
      expect([name, hub.registry.get(name)?.category]).toEqual([name, category])
    expect(await text('read', { path: 'a.txt', offset: 2, limit: 1 })).toMatch(/2\ttwo/)
    await text('write', { path: 'new/b.txt', content: 'first' })
    await text('write', { path: 'new/b.txt', content: 'second' })
    expect(read('new/b.txt')).toBe('second')
    await text('edit', { path: 'a.txt', oldString: 'two', newString: '2', replaceAll: true })
    expect(read('a.txt')).toBe('one\n2\nthree\n2\n')
    expect(await text('grep', { pattern: 'thr.e' })).toBe('a.txt:3:three')
    expect(await text('ls', {})).toBe('a.txt\nnew/')
    expect(await text('bash', { command: 'echo $((40 + 2))' })).toContain('42')
    expect(await text('tavily', { query: 'bread' })).toContain('rye.example')
    expect(await text('clarify', { question: 'Which?' })).toBe('answer to: Which?')
  })

  it('write.filePath is an absolute path', async () => {
    const { call, read, root } = realHub()
    const relative = await call('write', { filePath: 'rel.txt', content: 'hi' })
    expect(relative.error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining('absolute') })
    expect(existsSync(join(root, 'rel.txt'))).toBe(false)
    expect((await call('write', { filePath: join(root, 'abs.txt'), content: 'hi' })).ok).toBe(true)
    expect(read('abs.txt')).toBe('hi')
  })

  it('bash.timeout is between 0 and 600 000 ms', async () => {
    const { call, hub } = realHub(EXEC)
    for (const timeout of [-1, 600_001, 1.5, '5'])
      expect((await call('bash', { command: 'true', timeout })).error?.code, `${timeout}`).toBe('INPUT_SCHEMA_INVALID')
    for (const timeout of [0, 600_000]) expect((await call('bash', { command: 'true', timeout })).ok).toBe(true)
    const card = hub.cards({ dialect: 'shell' }).find(({ name }) => name === 'bash')
    expect(card?.parameters).toMatchObject({ properties: { timeout: { minimum: 0, maximum: 600_000 } } })
  })

  it('edit demands a new text that differs from the old one', async () => {
    const { call, read } = realHub({}, { 'a.txt': 'same' })
    const same = { oldText: 'same', newText: 'same' }
    for (const input of [{ oldString: 'same', newString: 'same' }, { edits: [same] }]) {
      const { error } = await call('edit', { path: 'a.txt', ...input })
      expect(error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining('different') })
    }
    expect(read('a.txt')).toBe('same')
  })

  it('above 30 000 characters the middle is cut, and the number of characters is stated', async () => {
    const long = `${'a'.repeat(40_000)}${'b'.repeat(40_000)}`
    const cut = truncateOutput(long)
    const [mark, count] = /\n… \[([\d,]+) characters cut\] …\n/.exec(cut)!
    expect(cut.length).toBeLessThanOrEqual(30_000)
    expect(Number(count!.replaceAll(',', ''))).toBe(long.length - (cut.length - mark.length))
    expect(cut.startsWith('a'.repeat(14_000)) && cut.endsWith('b'.repeat(14_000))).toBe(true)
    expect(MAX_TOOL_OUTPUT_LENGTH).toBe(30_000)
    expect(truncateOutput('x'.repeat(30_000))).toBe('x'.repeat(30_000))
    expect(truncateOutput('x'.repeat(30_001))).toContain('characters cut')
    // Whatever the limit, a cut is marked, and no character is split.
    for (const order of ['Do NOT delete the database', '不要删除数据库', '🔴🟢🔵🟡'])
      for (let limit = 0; limit < order.length; limit++) {
        const short = truncateOutput(order, limit)
        expect([limit, short.length <= Math.max(limit, 1), short.includes('…')]).toEqual([limit, true, true])
        expect(short).not.toMatch(/\p{Surrogate}/u)
      }
    const { text } = realHub(EXEC, { 'log.txt': 'a line of the log\n'.repeat(20_000) })
    for (const [tool, input] of [
      ['read', { path: 'log.txt' }],
      ['grep', { pattern: 'line', headLimit: 20_000 }],
      ['bash', { command: 'seq 1 100000' }],
    ] as const)
      expect((await text(tool, input)).length, tool).toBeLessThanOrEqual(30_000)
    expect(await text('read', { path: 'log.txt' })).toMatch(
      /\[Showing lines 1-\d+ of 20000\. Use offset=\d+ to read on\.\]$/,
    )
    const shown = await text('bash', { command: 'seq 1 100000' })
    expect(shown.startsWith('1\n2\n') && /99999\n100000\s*$/.test(shown)).toBe(true)
    // The mark counts what was cut, not the whole.
    const [note, left] = /\n\[… ([\d,]+) bytes of output are left out here.*\]\n/.exec(shown)!
    const whole = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('').length
    expect(Number(left!.replaceAll(',', ''))).toBeCloseTo(whole - (shown.length - note.length), -1)
    // The limit counts characters: of text whose characters have several bytes as many remain.
    const wide = await text('bash', { command: 'yes 😀汉 | head -n 20000' })
    expect(wide.length).toBeGreaterThan(29_000)
    expect(wide.length).toBeLessThanOrEqual(30_000)
  })

  it('clarify fails without a callback, and has a timeout and a default answer', async () => {
    const alone = realHub()
    expect((await alone.call('clarify', { question: 'Anybody?' })).error?.code).toBe('APPROVAL_UNAVAILABLE')
    const clock = fakeClock()
    const asked: string[] = []
    const { call } = realHub({
      clock,
      onClarificationRequest: ({ question }) => {
        asked.push(question)
        return new Promise(() => {})
      },
    })
    const silent = call('clarify', { question: 'Hello?', timeout: 5_000, defaultAnswer: 'no' })
    await eventually(() => expect(asked).toEqual(['Hello?']))
    await clock.advance(5_000)
    expect((await silent).data).toMatchObject({ answer: 'no', isDefault: true })
    const lost = call('clarify', { question: 'Still there?', timeout: 5_000 })
    await eventually(() => expect(asked).toHaveLength(2))
    await clock.advance(5_000)
    expect((await lost).ok).toBe(false)
  })

  it('read advises ls for a folder, numbers its lines and says how many there are', async () => {
    const { call, text, data } = realHub({}, { 'src/a.ts': 'one\ntwo\nthree\nfour\n' })
    const folder = await call('read', { path: 'src' })
    expect(`${folder.error?.message} ${folder.error?.fix.hint}`).toMatch(/\bls\b/)
    const page = { path: 'src/a.ts', offset: 2, limit: 2 }
    expect(await text('read', page)).toMatch(/^ *2\ttwo\n *3\tthree\n/)
    expect(await data('read', page)).toMatchObject({ page: { totalLines: 4 } })
  })

  it('edit wants a text that occurs once, or replaceAll, and returns the count and a preview', async () => {
    const { call, text, data, read } = realHub({}, { 'a.txt': 'x = 1\ny = 1\n' })
    const twice = await call('edit', { path: 'a.txt', oldString: '= 1', newString: '= 2' })
    expect(`${twice.error?.message} ${twice.error?.fix.hint}`).toMatch(/2 (times|places).*(context|lines).*replaceAll/s)
    expect(read('a.txt')).toBe('x = 1\ny = 1\n')
    expect(await text('edit', { path: 'a.txt', oldString: 'x = 1', newString: 'x = 2' })).toContain('-x = 1\n+x = 2')
    expect(await data('edit', { path: 'a.txt', oldString: '= ', newString: '== ', replaceAll: true })).toMatchObject({
      replacements: 2,
    })
    expect(read('a.txt')).toBe('x == 2\ny == 1\n')
  })

  it('grep has output modes, glob, type, context and pages, and no match is not an error', async () => {
    const { call, text } = realHub({}, { 'a.md': 'one\nfoo\nthree\nfoo\n', 'src/b.ts': 'foo\n', 'src/c.css': '.foo\n' })
    expect(await text('grep', { pattern: 'foo', outputMode: 'files_with_matches' })).toBe('a.md\nsrc/b.ts\nsrc/c.css')
    expect(await text('grep', { pattern: 'foo', outputMode: 'count' })).toBe('a.md:2\nsrc/b.ts:1\nsrc/c.css:1')
    expect(await text('grep', { pattern: 'foo', glob: '*.ts' })).toBe('src/b.ts:1:foo')
    expect(await text('grep', { pattern: 'foo', type: 'css' })).toBe('src/c.css:1:.foo')
    expect(await text('grep', { pattern: 'three', context: 1 })).toBe('a.md-2-foo\na.md:3:three\na.md-4-foo')
    expect(await text('grep', { pattern: 'foo', offset: 1, headLimit: 2 })).toMatch(/^a\.md:4:foo\nsrc\/b\.ts:1:foo\n/)
    const none = await call('grep', { pattern: 'nowhere' })
    expect([none.ok, none.content]).toMatchObject([true, [{ text: expect.stringContaining('No matches') }]])
  })

  it('bash returns stdout, stderr and exitCode, and reports a timeout as such', async () => {
    const { call } = realHub(EXEC)
    const failed = await call('bash', { command: 'echo out; echo err >&2; exit 7' })
    expect(failed.data).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 7, timedOut: false })
    const slow = await call('bash', { command: 'sleep 600', timeout: 1_000 })
    expect(slow).toMatchObject({ status: 'timeout', error: { code: 'TIMEOUT' }, data: { timedOut: true } })
  })

  it('grep and bash pass arguments without a shell', async () => {
    const hostile = '"; touch pwned; echo $(touch pwned) `touch pwned`'
    const { data, call, root } = realHub(EXEC, { 'a.txt': `${hostile}\n` })
    const { matches } = await data('core/fs.searchText', { root: '.', query: hostile })
    expect(matches).toEqual([{ file: 'a.txt', lineNo: 1, excerpt: hostile }])
    expect((await call('grep', { pattern: hostile, glob: hostile })).error?.code).not.toBe('INTERNAL')
    const { stdout } = await data('core/exec.run', { argv: ['printf', '%s', hostile, '*', '$HOME'] })
    expect(stdout).toBe(`${hostile}*$HOME`)
    expect(readdirSync(root)).toEqual(['a.txt'])
  })
})
