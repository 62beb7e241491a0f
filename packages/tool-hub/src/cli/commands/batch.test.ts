import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder, jsonLines } from '../../../../../test/support/cli.ts'

const folder = cliFolder()
afterAll(folder.remove)

const line = (id: unknown, tool: string, input: unknown = {}) => `${JSON.stringify({ id, tool, input })}\n`

describe.concurrent('tool-hub batch', () => {
  it('answers in the order of the lines, on one run', async () => {
    const lines = Array.from({ length: 40 }, (_, id) => line(id, 'test/echo', { id })).join('')
    const { code, stdout } = await folder.run(['batch', '-', '--run', 'ordered'], lines)
    expect(code).toBe(0)
    const answers = jsonLines(stdout)
    expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, id) => id))
    expect(answers.every(({ id, data }) => data.id === id)).toBe(true)
    expect(stdout.startsWith('{"id":0,"ok":true')).toBe(true)
    expect((await folder.run(['audit', 'verify', 'ordered'])).stdout).toContain('40 calls')
  })

  it('runs eight calls concurrently, and keeps their order although the last one ends first', async () => {
    // Each waits for the one behind it: one at a time, the first would never end.
    const lines = Array.from({ length: 8 }, (_, id) => line(id, 'test/follows', { id, after: id < 7 ? id + 1 : null }))
    const { code, stdout } = await folder.run(['batch', '-', '--run', 'at-once'], lines.join(''))
    expect(code).toBe(0)
    const answers = jsonLines(stdout)
    expect(answers.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    const events = jsonLines((await folder.run(['runs', 'show', 'at-once', '--json'])).stdout)
    const ended = events.filter(({ type }) => type === 'call-ended').map(({ callId }) => callId)
    expect(ended).toEqual(answers.map(({ callId }) => callId).reverse())
  })

  it('answers bad lines too, with their number, and continues', async () => {
    const lines = [
      '{broken\n',
      '\n',
      '[1]\n',
      '{"id":"x"}\n',
      line('ok', 'test/echo'),
      '{"id":{"a":1},"tool":"nope"}',
    ].join('')
    const { code, stdout } = await folder.run(['batch', '-'], lines)
    const answers = jsonLines(stdout)
    expect(code).toBe(1)
    expect(answers.map(({ id, ok, error }) => [id, ok, error?.code])).toEqual([
      [null, false, 'INPUT_SCHEMA_INVALID'],
      [null, false, 'INPUT_SCHEMA_INVALID'],
      ['x', false, 'INPUT_SCHEMA_INVALID'],
      ['ok', true, undefined],
      [{ a: 1 }, false, 'TOOL_NOT_FOUND'],
    ])
    expect(answers.slice(0, 3).map(({ error }) => error.message.slice(0, 6))).toEqual(['Line 1', 'Line 3', 'Line 4'])
  })

  it.each([
    [0, [line(1, 'test/echo')]],
    [3, [line(1, 'test/echo'), line(2, 'test/forbidden')]],
    [2, [line(1, 'nope'), line(2, 'test/forbidden')]],
    [4, [line(1, 'test/forbidden'), line(2, 'test/note', { path: 'n', text: 't' })]],
    [1, [line(1, 'test/note', { path: 'n', text: 't' }), line(2, 'test/fails'), line(3, 'test/forbidden')]],
  ])('exits %i for the gravest of its results', async (code, lines) => {
    expect((await folder.run(['batch', '-'], lines.join(''))).code).toBe(code)
  })

  it('reads a file, and exits 2 when there is none', async () => {
    const file = folder.write('calls.jsonl', line(1, 'test/echo').trimEnd())
    expect(jsonLines((await folder.run(['batch', file])).stdout)).toHaveLength(1)
    expect((await folder.run(['batch', 'nowhere.jsonl'])).code).toBe(2)
    expect((await folder.run(['batch', '.'])).code).toBe(2)
  })

  it('answers a line before the next one comes', async () => {
    const running = folder.start(['batch', '-'])
    running.child.stdin.write(line('first', 'test/echo'))
    await running.says('"id":"first"')
    running.child.stdin.end(line('second', 'test/echo'))
    const { code, stdout } = await running.ended
    expect(code).toBe(0)
    expect(jsonLines(stdout).map(({ id }) => id)).toEqual(['first', 'second'])
  })

  it('stops what is under way when it is interrupted, and exits 130', async () => {
    const running = folder.start(['batch', '-', '--run', 'stopped'])
    running.child.stdin.write(line(1, 'test/hangs'))
    await running.says('hanging')
    running.child.kill('SIGINT')
    const { code, stdout } = await running.ended
    expect(code).toBe(130)
    expect(jsonLines(stdout)).toMatchObject([{ id: 1, status: 'aborted' }])
  })

  it('ends quietly when its reader leaves', async () => {
    const running = folder.start(['batch', '-'])
    running.child.stdout.once('data', () => running.child.stdout.destroy())
    running.child.stdin.on('error', () => {})
    running.child.stdin.end(line(1, 'test/echo', { text: 'x'.repeat(2000) }).repeat(500))
    const { stderr } = await running.ended
    expect(stderr).toBe('')
  })
})
