import { appendFileSync, existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliFolder, jsonLines } from '../../../../../test/support/cli.ts'

const folder = cliFolder()
afterAll(folder.remove)
beforeAll(async () => {
  await folder.run(['call', 'test/nests', '--run', 'first-run'])
  await folder.run(['call', 'test/fails', '--run', 'second-run'])
})

describe.concurrent('tool-hub runs', () => {
  it('lists runs, oldest first, with their calls and failures', async () => {
    const { stdout } = await folder.run(['runs'])
    // Tests beside this one open runs of their own.
    expect(stdout).toMatch(/^first-run +closed .* 2 calls\nsecond-run +closed .* 1 call +1 failed or denied$/m)
    const json = JSON.parse((await folder.run(['runs', 'list', '--json'])).stdout)
    const own = json.filter(({ id }: { id: string }) => /^(first|second)-run$/.test(id))
    expect(own).toMatchObject([
      { id: 'first-run', calls: 2 },
      { id: 'second-run', failures: 1 },
    ])
  })

  it('shows a run as a timeline, nested calls indented', async () => {
    const { stdout } = await folder.run(['runs', 'show', 'first'])
    // Calls that return immediately have only an end on record.
    const lines = stdout
      .trimEnd()
      .split('\n')
      .filter((line) => !/^\S+ +start /.test(line))
    expect(lines).toHaveLength(4)
    expect(lines[1]).toMatch(/^\S+ {4}ok {7}test\/echo/)
    expect(lines[2]).toMatch(/^\S+ {2}ok {7}test\/nests/)
  })

  it('shows a run as tool.started, tool.completed and tool.failed, a JSON line each', async () => {
    const [done, failed, tailed] = await Promise.all(
      ['show first-run', 'show second-run', 'tail second-run'].map(async (words) =>
        jsonLines((await folder.run(['runs', ...words.split(' '), '--tool-events'])).stdout),
      ),
    )
    const of = (tool: string) => done!.filter((event) => event.tool === tool).map(({ type }) => type)
    expect(of('test/echo')).toEqual(['tool.started', 'tool.completed'])
    expect(of('test/nests')).toEqual(['tool.started', 'tool.completed'])
    expect(failed).toMatchObject([
      { type: 'tool.started', tool: 'test/fails', run: 'second-run' },
      { type: 'tool.failed', tool: 'test/fails', run: 'second-run', status: 'error', durationMs: expect.any(Number) },
    ])
    expect(tailed).toEqual(failed)
  })

  it('clears the taint of a run, once and with a reason', async () => {
    await folder.run(['call', 'test/nests', '--run', 'tainted-run'])
    writeFileSync(join(folder.path, 'runs/tainted-run/tainted'), 'https://example.org')
    const clear = ['runs', 'clear-taint', 'tainted-run']
    expect((await folder.run(clear)).stderr).toContain('--reason')
    const { stderr } = await folder.run([...clear, '--reason', 'our own page'])
    expect(stderr).toContain('Cleared the taint of run tainted-run. It had read from: https://example.org')
    expect((await folder.run(['runs', 'show', 'tainted-run'])).stdout).toMatch(/cleared +by cli:.* our own page/)
    const again = await folder.run([...clear, '--reason', 'our own page'])
    expect([again.code === 0, again.stderr]).toEqual([false, expect.stringContaining('not tainted')])
    expect((await folder.run(['runs', 'clear-taint', 'no-such-run', '--reason', 'x'])).stderr).toContain('no-such-run')
  })

  it('returns an artifact, exact to the byte, by its reference', async () => {
    const text = 'a long line that is only text\n'.repeat(5_000)
    folder.write('long.txt', text)
    const read = [
      'call',
      'core/fs.readText',
      '--path',
      'long.txt',
      '--maxBytes',
      '2000',
      '--run',
      'large-run',
      '--json',
    ]
    const [{ ref }] = JSON.parse((await folder.run(read)).stdout).artifacts
    expect(await folder.run(['runs', 'artifact', ref])).toEqual({ code: 0, stdout: text, stderr: '' })
    const saved = await folder.run(['runs', 'artifact', ref, '--run', 'large', '--out', 'copy.txt'])
    expect(saved).toEqual({ code: 0, stdout: '', stderr: `Wrote ${text.length} bytes to copy.txt.\n` })
    expect(readFileSync(join(folder.path, 'copy.txt'), 'utf8')).toBe(text)
    expect(await folder.run(['runs', 'artifact', ref, '--out', 'copy.txt'])).toMatchObject({ code: 2 })
    for (const wrong of ['nothing', `artifact:${'0'.repeat(64)}`])
      expect(await folder.run(['runs', 'artifact', wrong])).toMatchObject({ code: 2, stdout: '' })
  })

  it('gives the events as JSON lines', async () => {
    const events = jsonLines((await folder.run(['runs', 'show', 'second-run', '--json'])).stdout)
    expect(events.at(-2)).toMatchObject({ type: 'call-ended', status: 'error', error: { code: 'TOOL_FAILED' } })
  })

  it('follows a run to its end', async () => {
    const calling = folder.start(['call', 'test/hangs', '--run', 'followed'])
    await calling.says('hanging')
    const tailing = folder.start(['runs', 'tail', 'followed', '--json'])
    await tailing.says('call-started')
    calling.child.kill('SIGINT')
    const { code, stdout } = await tailing.ended
    expect(code).toBe(0)
    expect(jsonLines(stdout).at(-1)).toMatchObject({ type: 'run-closed' })
  })

  it('ends with a word when the process of the run is gone', async () => {
    const calling = folder.start(['call', 'test/hangs', '--run', 'crashed'])
    await calling.says('hanging')
    const tailing = folder.start(['runs', 'tail', 'crashed'])
    await tailing.says('crashed')
    calling.child.kill('SIGKILL')
    const { code, stderr } = await tailing.ended
    expect(code).toBe(0)
    expect(stderr).toBe('The run was never closed: the process that wrote it is gone.\n')
  })

  it('tells all of a run that is closed already', async () => {
    const { stdout, stderr } = await folder.run(['runs', 'tail', 'first-run'])
    expect(stderr).toBe('')
    expect(stdout).toBe((await folder.run(['runs', 'show', 'first-run'])).stdout)
  })

  it('follows no run unasked when none is open', async () => {
    const idle = cliFolder()
    await idle.run(['call', 'test/echo'])
    const { code, stdout, stderr } = await idle.run(['runs', 'tail'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('No run is open')
    idle.remove()
  })

  it('exits 2 for the beginning of several ids, and names them', async () => {
    await folder.run(['call', 'test/echo', '--run', 'twin-1'])
    await folder.run(['call', 'test/echo', '--run', 'twin-2'])
    const { code, stderr } = await folder.run(['runs', 'show', 'twin'])
    expect(code).toBe(2)
    expect(stderr).toContain('twin matches 2 runs: twin-1, twin-2.')
  })

  it('exits 2 for a run that is not there, and names the nearest', async () => {
    const { code, stderr } = await folder.run(['runs', 'show', 'frist-run'])
    expect(code).toBe(2)
    expect(stderr).toContain('first-run')
    expect((await folder.run(['runs', 'show', '../first-run'])).code).toBe(2)
  })
})

describe('tool-hub audit verify', () => {
  it('finds the runs intact', async () => {
    const { code, stdout } = await folder.run(['audit', 'verify', 'first-run', '--strict'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^intact {2}first-run/)
  })

  it('does not find the end of a crashed run proven, and tells of its torn last line', async () => {
    const calling = folder.start(['call', 'test/hangs', '--run', 'torn'])
    await calling.says('hanging')
    calling.child.kill('SIGKILL')
    await calling.ended
    appendFileSync(join(folder.path, 'runs', 'torn', 'events.jsonl'), '{"seq":99')
    const { code, stdout } = await folder.run(['audit', 'verify', 'torn'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^end not proven {2}torn .*\n {2}9 bytes follow the last line.*\n {2}the run was not closed/)
    await folder.run(['call', 'test/echo', '--run', 'torn'])
    expect(await folder.run(['audit', 'verify', 'torn', '--strict'])).toMatchObject({ code: 0 })
  })

  it('accepts a run that a living process writes, unless it is strict', async () => {
    const calling = folder.start(['call', 'test/hangs', '--run', 'live'])
    await calling.says('hanging')
    expect(await folder.run(['audit', 'verify', 'live'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^open {2}live/),
    })
    expect(await folder.run(['audit', 'verify', 'live', '--strict'])).toMatchObject({ code: 1 })
    calling.child.kill('SIGTERM')
    await calling.ended
  })

  it('finds a run that was removed by hand, and accepts one that was removed on record', async () => {
    const removing = cliFolder()
    for (const run of ['by-hand', 'on-record']) await removing.run(['call', 'test/echo', '--run', run])
    expect(await removing.run(['runs', 'remove', 'on-rec'])).toMatchObject({
      code: 0,
      stderr: 'Removed run on-record.\n',
    })
    expect(existsSync(join(removing.path, 'runs', 'on-record'))).toBe(false)
    expect(await removing.run(['audit', 'verify'])).toMatchObject({ code: 0 })
    rmSync(join(removing.path, 'runs', 'by-hand'), { recursive: true })
    const { code, stdout } = await removing.run(['audit', 'verify'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^BROKEN {2}by-hand .*\n {2}the run is gone: the store names its event 3$/m)
    expect(stdout).not.toContain('on-record')
    expect((await removing.run(['runs', 'show', '--json'])).stdout).toContain(
      '"change":"run-removed","subject":"on-record"',
    )
    removing.remove()
  })

  it('prunes runs by age, on record, as the config or an option says', async () => {
    const own = cliFolder('runs: { folder: ./kept, keep: 90d, size: 20GB }\n')
    for (const run of ['old', 'new']) await own.run(['call', 'core/util.time.now', '--run', run])
    const long = new Date(Date.now() - 100 * 86_400_000)
    utimesSync(join(own.path, 'kept', 'old', 'events.jsonl'), long, long)
    const dry = await own.run(['runs', 'prune', '--dry-run'])
    expect(dry).toMatchObject({ code: 0, stdout: 'old\n', stderr: expect.stringMatching(/^Would remove 1 run /) })
    expect(await own.run(['runs', 'prune', '--older-than', '200d'])).toMatchObject({ code: 0, stdout: '' })
    expect(await own.run(['runs', 'prune', '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('old'),
    })
    expect([existsSync(join(own.path, 'kept', 'old')), existsSync(join(own.path, 'kept', 'new'))]).toEqual([
      false,
      true,
    ])
    expect(await own.run(['audit', 'verify'])).toMatchObject({ code: 0 })
    own.write('tool-hub.yaml', 'runs: ./kept\n')
    expect(await own.run(['runs', 'prune'])).toMatchObject({ code: 2, stderr: expect.stringContaining('keep: 90d') })
    expect(await own.run(['runs', 'prune', '--max-size', 'huge'])).toMatchObject({ code: 2 })
    own.remove()
  })

  it('does not remove a run that is open', async () => {
    const calling = folder.start(['call', 'test/hangs', '--run', 'busy'])
    await calling.says('hanging')
    expect(await folder.run(['runs', 'remove', 'busy'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Run busy is open.'),
    })
    calling.child.kill('SIGTERM')
    await calling.ended
  })

  it('exits 1 for a changed line and says which', async () => {
    const file = join(folder.path, 'runs', 'second-run', 'events.jsonl')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"test/fails"', '"test/works"'))
    const { code, stdout } = await folder.run(['audit', 'verify'])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^BROKEN {2}second-run.*\n {2}line 2 was changed/m)
    const [report] = jsonLines((await folder.run(['audit', 'verify', 'second-run', '--json'])).stdout)
    expect(report).toMatchObject({ ok: false, run: 'second-run', problems: [{ line: 2 }, ...report.problems.slice(1)] })
  })

  it('has nothing to say where nothing was done', async () => {
    const empty = cliFolder()
    expect(await empty.run(['audit', 'verify'])).toMatchObject({ code: 0, stdout: '' })
    empty.remove()
  })
})
