import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CLI_MAIN, cliFolder, jsonLines } from '../../../../../test/support/cli.ts'

const folder = cliFolder()
afterAll(folder.remove)

describe.concurrent('tool-hub call', () => {
  it('prints the text for a model, and nothing else, to stdout', async () => {
    const { code, stdout, stderr } = await folder.run(['call', 'core/util.hash.sha256Text', '{"text":"hello"}'])
    expect(stdout).toBe('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  it('prints the whole result on one line with --json', async () => {
    const { stdout } = await folder.run(['call', 'test/echo', '{"a":1}', '--json'])
    expect(stdout.trim()).not.toContain('\n')
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, status: 'ok', tool: 'test/echo', data: { a: 1 } })
  })

  it('reads arguments from stdin', async () => {
    const { stdout } = await folder.run(['call', 'test/echo', '-'], '{"from":"stdin"}')
    expect(JSON.parse(stdout)).toEqual({ from: 'stdin' })
  })

  it('reads arguments from flags, typed by the schema, its own options among them', async () => {
    const words = ['--path', 'x', '--max-bytes', '10', '--yes', '--deep', '--tags', '["a"]', '--', '--json', 'own']
    const { stdout } = await folder.run(['call', 'test/typed', ...words])
    expect(JSON.parse(stdout)).toEqual({ path: 'x', maxBytes: 10, deep: true, tags: ['a'], json: 'own' })
  })

  it('takes no arguments for an empty object', async () => {
    expect((await folder.run(['call', 'test/echo'])).stdout).toBe('{}\n')
  })

  it('calls a tool that a plugin brought late', async () => {
    expect((await folder.run(['call', 'test/late'])).stdout).toBe('late\n')
  })

  it('exits 1 when the tool fails, with message and fix but no stack', async () => {
    const { code, stdout, stderr } = await folder.run(['call', 'test/fails'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: TOOL_FAILED: .*\n {2}fix: .*\n$/)
  })

  it('exits 2 for a mistyped tool and names the nearest, with --json in the whole result', async () => {
    const { code, stderr } = await folder.run(['call', 'core/util.hash.sha256Txt', '--text', 'x'])
    expect(code).toBe(2)
    expect(stderr).toContain('Did you mean core/util.hash.sha256Text')
    const { stdout } = await folder.run(['call', 'nope', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, status: 'error', error: { code: 'TOOL_NOT_FOUND' } })
  })

  it('exits 3 when policy denies', async () => {
    const { code, stdout } = await folder.run(['call', 'test/forbidden', '--json'])
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, status: 'denied', error: { code: 'POLICY_DENIED' } })
  })

  it('exits 4 immediately when an approval is needed and nobody is there, and says what to do', async () => {
    const { code, stderr } = await folder.run(['call', 'test/note', '--path', 'unasked.md', '--text', 'x'])
    expect(code).toBe(4)
    expect(stderr).toMatch(/APPROVAL_UNAVAILABLE[\s\S]*fix: .*--yes/)
    expect(existsSync(join(folder.path, 'unasked.md'))).toBe(false)
  })

  it('approves with --yes, and records who approved', async () => {
    const { code, stdout } = await folder.run(['call', 'test/note', '--path', 'a.md', '--text', 'x', '--yes', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).meta.approvedBy).toBe('cli --yes')
    expect(readFileSync(join(folder.path, 'a.md'), 'utf8')).toBe('x')
  })

  it('does nothing on a dry run', async () => {
    const words = ['call', 'test/note', '--path', 'dry.md', '--text', 'x', '--dry-run']
    const asked = await folder.run([...words, '--yes'])
    expect(asked).toMatchObject({
      code: 4,
      stderr: '',
      stdout: expect.stringMatching(/^Dry run: test\/note would ask/),
    })
    const echo = await folder.run(['call', 'test/echo', '--dry-run', '--json'])
    expect(JSON.parse(echo.stdout)).toMatchObject({ ok: true, meta: { dryRun: true } })
    expect(existsSync(join(folder.path, 'dry.md'))).toBe(false)
  })

  it('keeps to the folder of --root', async () => {
    const words = ['call', 'test/note', '--path', '../out.md', '--text', 'x', '--yes', '--root', '.']
    const { code, stderr } = await folder.run(words)
    expect(code).toBe(3)
    expect(stderr).toContain('PATH_OUTSIDE_SANDBOX')
  })

  it('says where the files of a call are, and why, when the current folder is the home folder', async () => {
    const rootless = cliFolder('plugins: [./plugin.mjs]\npolicy: [{ allow: write:fs }]\n')
    const words = ['call', 'test/note', '--path', 'a.md', '--text', 'x', '--run', 'here']
    expect((await rootless.run(words)).stderr).toBe(
      'files: runs/here/workspace, because the current folder is your home folder; --root DIR gives tools a folder\n',
    )
    expect(existsSync(join(rootless.path, 'runs/here/workspace/a.md'))).toBe(true)
    expect((await rootless.run([...words, '--root', '.'])).stderr).toBe('')
    rootless.remove()
  })

  it('says where the files of a call are when the root is above the folder of the person', async () => {
    mkdirSync(join(folder.path, 'below'))
    const words = [CLI_MAIN, 'call', 'core/fs.stat', '--path', 'plugin.mjs']
    const { stderr, status } = spawnSync(process.execPath, words, { cwd: join(folder.path, 'below'), encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'files: ..\n' })
    expect((await folder.run(['call', 'core/fs.stat', '--path', 'plugin.mjs'])).stderr).toBe('')
  })

  it('stops a call that takes longer than --timeout', async () => {
    const { code, stderr } = await folder.run(['call', 'test/hangs', '--timeout', '50ms'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/TIMEOUT[\s\S]*fix: Ask for less, or give a longer --timeout\./)
  })

  it('records who called', async () => {
    await folder.run(['call', 'test/echo', '--run', 'who', '--purpose', 'to see'])
    const { stdout } = await folder.run(['runs', 'show', 'who', '--json'])
    // On its start, or on its end if it returned immediately.
    const event = jsonLines(stdout).find(({ caller }) => caller !== undefined)
    expect(event).toMatchObject({ caller: expect.stringMatching(/^cli:./), purpose: 'to see' })
  })
})

describe.concurrent('bad input to tool-hub call', () => {
  it.each([
    ['broken JSON', ['call', 'test/echo', '{broken'], 'is not JSON'],
    ['two JSON texts', ['call', 'test/echo', '{}', '{}'], '2 arguments'],
    ['an unknown flag', ['call', 'test/typed', '--pth', 'x'], 'Did you mean --path?'],
    ['a flag of the wrong type', ['call', 'test/typed', '--maxBytes', 'ten'], 'must be integer'],
    [
      'an option that the tool has too',
      ['call', 'core/fs.searchText', '--root', '.', '--query', 'x'],
      '… -- --root VALUE',
    ],
    ['a lone word', ['call', 'read', 'num 1.txt'], "Name it: --path 'num 1.txt'"],
    ['no tool', ['call'], "Missing required argument 'tool'"],
    ['--yes with --wait', ['call', 'test/echo', '--yes', '--wait', '1s'], 'exclude each other'],
    ['a time without sense', ['call', 'test/echo', '--timeout', 'soon'], 'is not a time'],
    ['a run that cannot be', ['call', 'test/echo', '--run', '../out'], 'is not a run id'],
    ['a config that is not there', ['call', 'test/echo', '--config', 'nowhere.yaml'], 'nowhere.yaml'],
  ])('exits 2 for %s', async (_, words, message) => {
    const { code, stdout, stderr } = await folder.run(words)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/^error: [\s\S]*\n {2}fix: .*\n$/)
  })

  it('exits 2 for stdin that is no JSON, and with --json says so in JSON', async () => {
    const { code, stdout } = await folder.run(['call', 'test/echo', '-', '--json'], 'not json')
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'USAGE' } })
  })

  it('says where an argument goes that is called like an option of its own', async () => {
    const { code, stderr } = await folder.run(['call', 'core/util.json.select', '--json', '1', '--path', 'a'])
    expect(code).toBe(2)
    expect(stderr).toContain('… -- --json VALUE')
    const fits = await folder.run(['call', 'core/fs.searchText', '--query', 'nothing-like-it', '--', '--root', '.'])
    expect(fits.code).toBe(0)
  })

  it.each([
    ['5,000 levels', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['__proto__', '{"__proto__":{"polluted":true}}'],
    ['a list in place of an object', '[]'],
    ['a lone surrogate in a key that must not be there', '{"x\\ud800":1}'],
  ])('refuses %s with a typed error', async (name, json) => {
    const tool = name.startsWith('a l') ? 'core/util.time.now' : 'test/echo'
    const { code, stdout } = await folder.run(['call', tool, '-', '--json'], json)
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('tells the stack of an error only with --debug', async () => {
    const words = ['call', 'test/echo', '{broken']
    expect((await folder.run(words)).stderr).not.toContain('    at ')
    expect((await folder.run([...words, '--debug'])).stderr).toContain('    at ')
  })
})

describe('tool-hub call, interrupted', () => {
  it('stops the call, writes its record and exits 130', async () => {
    const running = folder.start(['call', 'test/hangs', '--run', 'interrupted', '--json'])
    await running.says('hanging')
    running.child.kill('SIGINT')
    const { code, stdout } = await running.ended
    expect(code).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, status: 'aborted' })
    const { stdout: events } = await folder.run(['runs', 'show', 'interrupted', '--json'])
    // Interrupted immediately, it may have no start of its own on record.
    const types = jsonLines(events).map(({ type }) => type)
    expect(types.filter((type) => type !== 'call-started')).toEqual(['run-opened', 'call-ended', 'run-closed'])
  })

  it('ends as well when it is terminated, and exits 143', async () => {
    const running = folder.start(['call', 'test/hangs', '--json'])
    await running.says('hanging')
    running.child.kill('SIGTERM')
    const { code, stdout } = await running.ended
    expect(code).toBe(143)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, status: 'aborted' })
  })

  it('lets one process at a time write a run, and tells the other', async () => {
    const first = folder.start(['call', 'test/hangs', '--run', 'shared'])
    await first.says('hanging')
    const second = await folder.run(['call', 'test/echo', '--run', 'shared', '--json'])
    first.child.kill('SIGINT')
    expect((await first.ended).code).toBe(130)
    expect(second.code).toBe(1)
    expect(JSON.parse(second.stdout).error).toMatchObject({ code: 'CONFLICT', fix: { hint: expect.any(String) } })
    expect((await folder.run(['audit', 'verify', 'shared'])).code).toBe(0)
  })
})
