import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { useCliHere } from '../../../test/support/cli-here.ts'
import { withApprovals } from '../../tool-hub/src/cli/hub/data-store.ts'
import { withHub } from '../../tool-hub/src/cli/hub/with-hub.ts'
import { runCli } from '../../tool-hub/src/cli/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-cli-code-'))
const config = fileOf(
  'tool-hub.yaml',
  `sandbox: { root: . }
runs: ./runs
data: ./kept
code: { calls: 5 }
policy:
  - ask: write:fs
  - deny: write:fs
    on: ./denied.txt
`,
)
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => rmSync(join(folder, 'out.txt'), { force: true }))

function fileOf(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/** Runs a command line in this process. */
const { run, heard } = useCliHere('code', config)

const WRITE = fileOf(
  'write.ts',
  `const text: string = input ?? 'hello'
console.log('writing', text)
await tools.core.fs.writeText({ path: 'out.txt', text })
return (await tools.core.fs.readText({ path: 'out.txt' })).text
`,
)

const answer = (id: string, decision: 'allow' | 'deny') =>
  withApprovals({ config }, (approvals) => approvals.answer(id, { decision, by: 'ada' }))

/** A script that waits. */
async function suspend(...words: string[]): Promise<{ readonly script: string; readonly approvals: string[] }> {
  const { code, stdout } = await run('run', WRITE, '--json', ...words)
  expect(code).toBe(4)
  return JSON.parse(stdout)
}

describe('tool-hub code run', () => {
  it('prints the value on stdout and the logs on stderr', async () => {
    const file = fileOf('sum.ts', "console.log('adding')\nconst sum: number = input.a + input.b\nsum")
    const input = fileOf('input.json', '{"a":1,"b":2}')
    for (const words of ['{"a":1,"b":2}', `@${input}`])
      expect(await run('run', file, '--input', words)).toMatchObject({ code: 0, stdout: '3\n', stderr: 'adding\n' })
    const whole = JSON.parse((await run('run', file, '--input', '{"a":1,"b":2}', '--json')).stdout)
    expect(whole).toMatchObject({ status: 'completed', value: 3, logs: ['adding'], calls: [] })
    expect((await run('run', fileOf('none.js', 'for (const a of []) a'))).stdout).toBe('null\n')
  })

  it('makes calls in the folder of the config, with the approvals of --yes', async () => {
    const { code, stdout } = await run('run', WRITE, '--yes', '--run', 'yes', '--input', '"hi"')
    expect([code, stdout]).toEqual([0, '"hi"\n'])
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toBe('hi')
    expect(existsSync(join(folder, 'runs', 'yes', 'events.jsonl'))).toBe(true)
  })

  it.each([
    ['a syntax error', 'const a = 1\nconst = 2', 1, /SYNTAX \(line 2, column \d+\)/],
    ['a thrown error', 'throw new Error("no")', 1, /SCRIPT_ERROR \(line 1, column \d+\): no/],
    ['a denial', "await tools.core.fs.writeText({ path: 'denied.txt', text: '' })", 3, /POLICY_DENIED \(line 1/],
    ['too many calls', 'for (;;) await tools.core.util.time.now({})', 1, /CALL_BUDGET/],
    ['an endless loop', 'for (;;) {}', 1, /TIMEOUT/],
  ])('says what failed, with the exit code of a call, after %s', async (_, source, exit, message) => {
    const timeout = message.test('TIMEOUT') ? '500ms' : '60s'
    const { code, stdout, stderr } = await run('run', fileOf('bad.js', source), '--timeout', timeout)
    expect([code, stdout]).toEqual([exit, ''])
    expect(stderr).toMatch(message)
    expect(stderr).toMatch(/No call was made|Calls that were made/)
  })

  it('takes limits, but no more than the config allows', async () => {
    const file = fileOf('many.js', 'for (let n = 0; n < input; n++) await tools.core.util.time.now({})\n"done"')
    expect(await run('run', file, '--input', '3', '--calls', '2')).toMatchObject({ code: 1 })
    expect(await run('run', file, '--input', '5', '--calls', '100')).toMatchObject({ code: 0, stdout: '"done"\n' })
    expect(await run('run', file, '--input', '6', '--calls', '100')).toMatchObject({ code: 1 })
  })

  it.each([
    [['run', 'none.js'], 'none.js does not exist.'],
    [['run', tmpdir()], 'is a folder.'],
    [['run', WRITE, '--input', '{a'], '--input is not JSON'],
    [['run', WRITE, '--timeout', 'soon'], '--timeout "soon" is not a time.'],
    [['run', WRITE, '--calls', '0'], '--calls "0" is not a number.'],
    [['run', WRITE, '--yes', '--wait', '1s'], '--yes and --wait exclude each other.'],
    [['wait', 'nothing'], 'Suspended script "nothing" not found.'],
    [['wait', 'nothing', '--timeout', '1h'], '--timeout 1h is too long.'],
    [['cancel', 'nothing'], 'Suspended script "nothing" not found.'],
    [['show', 'nothing'], 'Suspended script "nothing" not found.'],
    [['list', '--status', 'asleep'], 'Invalid status "asleep".'],
    [['lsit'], 'tool-hub code has no command "lsit".'],
    [['save', 'x'], 'Give --file or --script.'],
    [['save', 'a b', '--file', WRITE], 'must be letters, digits, - and _'],
    [['save', 'x', '--file', WRITE, '--input-schema', WRITE], 'is not JSON'],
    [['save', 'x', '--script', 'nothing'], 'Script "nothing" not found in the store.'],
    [['remove', 'x'], 'Saved script "x" not found.'],
  ])('says what is wrong with %j', async (words, message) => {
    const { code, stdout, stderr } = await run(...words)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })
})

describe('a script that waits for an approval', () => {
  it('is suspended, listed, shown and continued', async () => {
    const { code, stdout, stderr } = await run('run', WRITE)
    expect([code, stdout]).toEqual([4, ''])
    const [, id = ''] = /tool-hub code wait (\S+)/.exec(stderr) ?? []
    expect(stderr).toContain(`approvals allow approval-${id}.1`)
    expect((await run()).stdout).toMatch(new RegExp(`${id} +suspended +1 waiting`))
    expect(JSON.parse((await run('list', '--status', 'suspended', '--json')).stdout)).toMatchObject([{ id }])

    const shown = await run('show', id)
    expect(shown.stdout).toContain("3  await tools.core.fs.writeText({ path: 'out.txt', text })")
    expect(shown.stdout).toContain(`waiting: core/fs.writeText (line 3)  approval-${id}.1`)
    expect(shown.stderr).toContain(`tool-hub code wait ${id}`)

    const early = await run('wait', id, '--timeout', '1ms')
    expect([early.code, early.stdout]).toEqual([4, ''])
    expect(early.stderr).toContain(`core/fs.writeText (line 3) waits: tool-hub approvals allow approval-${id}.1`)
    await answer(`approval-${id}.1`, 'allow')
    expect(await run('wait', id)).toMatchObject({ code: 0, stdout: '"hello"\n' })
    expect((await run('show', id)).stdout).toContain('2. core/fs.readText (line 4): ok')
    expect(await run('wait', id)).toMatchObject({ code: 0, stdout: '"hello"\n' })
  })

  it('ends with the exit code of a denial if somebody denies it', async () => {
    const { script, approvals } = await suspend()
    await answer(approvals[0]!, 'deny')
    const { code, stderr } = await run('wait', script)
    expect(code).toBe(3)
    expect(stderr).toContain('APPROVAL_DENIED (line 3')
    expect(existsSync(join(folder, 'out.txt'))).toBe(false)
  })

  it('is waited for with --wait', async () => {
    const running = run('run', WRITE, '--wait', '60s')
    await expect.poll(() => heard().stderr).toMatch(/approvals allow (approval-\S+)/)
    await answer(/approvals allow (approval-\S+)/.exec(heard().stderr)![1]!, 'allow')
    expect(await running).toMatchObject({ code: 0, stdout: '"hello"\n' })
  })

  it('can be cancelled, and is then over', async () => {
    const { script } = await suspend()
    expect((await run('cancel', script)).stdout).toBe(`Cancelled ${script}.\n`)
    expect((await run('wait', script)).stderr).toContain('is cancelled')
    expect((await run('cancel', script)).stdout).toBe(`Cancelled ${script}.\n`)
  })

  it('of somebody else continues with the rights of that caller only', async () => {
    const script = await withHub({ config, wait: '60s' }, async (hub) => {
      const agent = hub.as({ name: 'token:ci' })
      const { data } = await agent.callDynamic(
        'core/code.run',
        { code: "await tools.core.fs.writeText({ path: 'out.txt', text: '' })" },
        { run: 'ci', onAsk: 'return' },
      )
      return data as { script: string; status: string }
    })
    expect(script.status).toBe('suspended')
    for (const verb of ['wait', 'cancel'])
      expect((await run(verb, script.script)).stderr).toContain(`Script ${script.script} belongs to token:ci.`)
  })
})

describe('tool-hub code save', () => {
  it('makes a tool of a file, which is called, listed and removed like one', async () => {
    const file = fileOf('greet.js', 'return `Hello, ${input.name}!`')
    const schema = fileOf('greet.json', '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}')
    expect((await run('saved')).stderr).toContain('No script is a tool.')
    const saved = await run('save', 'greet', '--file', file, '--input-schema', schema, '--description', 'Greet.')
    expect(saved).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Saved script\/greet, sha256 [0-9a-f]{64}\.\n$/),
    })
    expect((await run('saved')).stdout).toMatch(/^script\/greet .*Greet\.\n$/)
    expect(JSON.parse((await run('saved', '--json')).stdout)).toMatchObject([
      { name: 'greet', sha256: expect.any(String) },
    ])
    const before = heard().stdout.length
    expect(await runCli(['call', 'script/greet', '--name', 'Ada', '--config', config])).toBe(0)
    expect(heard().stdout.slice(before)).toBe('Hello, Ada!\n')
    expect(await runCli(['list', '--group', 'scripts', '--config', config])).toBe(0)
    expect(heard().stdout).toContain('script/greet')
    expect((await run('remove', 'greet')).stdout).toBe('Removed script/greet.\n')
    expect(await runCli(['call', 'script/greet', '{"name":"Ada"}', '--config', config])).toBe(2)
  })

  it('makes a tool of a completed script', async () => {
    const { script, approvals } = await suspend()
    expect((await run('save', 'write', '--script', script)).stderr).toContain('only completed scripts can be saved')
    await answer(approvals[0]!, 'allow')
    await run('wait', script)
    const saved = await run('save', 'write', '--script', script, '--json')
    expect(JSON.parse(saved.stdout)).toMatchObject({ source: readFileSync(WRITE, 'utf8') })
    expect((await run('save', 'write', '--file', WRITE)).stderr).toContain('There is a tool script/write already.')
    await run('remove', 'write')
  })
})

describe('tool-hub code', () => {
  it('prints declarations of the tools', async () => {
    expect((await run('types')).stdout).toContain('readText')
  })
})
