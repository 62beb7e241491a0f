import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Store } from '../../../core/src/store.ts'
import { runCli } from '../../../tool-hub/src/cli/program.ts'
import type { SessionWork } from './runner.ts'

let folder: string
let config: string
let store: Store
let hub: ReturnType<typeof createToolHub>
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-sessions-cli-'))
  config = join(folder, 'tool-hub.yaml')
  const agent = JSON.stringify([
    process.execPath,
    '-e',
    `process.stdin.on('data', (data) => console.log('did ' + data))`,
  ])
  const dead = JSON.stringify([process.execPath, '-e', 'process.exit(4)'])
  writeFileSync(
    config,
    `runs: ./runs\ndata: ./data\nsessions:\n  runners:\n    default: { type: command, argv: ${agent} }\n    dead: { type: command, argv: ${dead} }\n`,
  )
  store = openStore(join(folder, 'data'), { pollMs: 20 })
  const run = async ({ messages, say }: SessionWork) => {
    for await (const { id, text } of messages()) await say(`${text}! \u001b[31m`, { replyTo: id })
    return ''
  }
  // As a service does: it has the store open while others use the command line.
  hub = createToolHub({
    store,
    runs: join(folder, 'runs'),
    data: join(folder, 'data'),
    sessions: { runners: { default: { run } } },
  })
})
afterAll(async () => {
  await hub.close({ abort: true })
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

/** Runs a command line in this process. */
function cli(...words: string[]) {
  return cliWith(config, ...words)
}

async function cliWith(config: string, ...words: string[]) {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation(((text: string, done?: () => void) => {
      said[name] += text
      done?.()
      return true
    }) as never)
  }
  const code = await runCli(['sessions', ...words, '--config', config])
  vi.restoreAllMocks()
  return { code, ...said }
}

describe('tool-hub sessions', () => {
  it('lists, shows, asks and ends a session of another process', async () => {
    const { id } = await hub.sessions.spawn({ task: 'Echo.', label: 'echo', by: 'ada' })
    expect((await cli('--state', 'running')).stdout).toMatch(new RegExp(`^${id} +echo +running`))
    expect((await cli('send', 'echo', 'Hi', '--wait', '10s')).stdout).toBe('Hi! \\u{1b}[31m\n')
    expect((await cli('show', 'echo')).stdout).toMatch(/\(echo\) {2}running\n {2}runner default\n[\s\S]*task: Echo\./)
    const history = await cli('history', id, '--limit', '1')
    expect(history.stdout).toMatch(/ -> owner\n {2}Hi! \\u\{1b\}/)
    expect(history.stderr).toMatch(/Earlier: --before \d+\.\d+/)
    expect(await cli('end', 'echo', '--reason', 'enough')).toMatchObject({ code: 0, stdout: 'Ended echo.\n' })
    expect(JSON.parse((await cli('show', id, '--json')).stdout)).toMatchObject({
      session: { state: 'ended', reason: expect.stringMatching(/^It was ended by cli:.*: enough\.$/) },
    })
  })

  it('begins one with a runner of the config, and says how it failed', async () => {
    expect(await cli('spawn', 'Work.', '--calls', '3')).toMatchObject({ code: 0, stdout: 'did Work.\n' })
    const failed = await cli('spawn', 'Work.', '--runner', 'dead')
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('exit code 4') })
  })

  it('runs the program of docs/reference/sessions.md with the config that stands there', async () => {
    const [yaml, program] = ['yaml', 'js'].map(
      (language) =>
        new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(
          readFileSync('docs/reference/sessions.md', 'utf8'),
        )![1]!,
    ) as [string, string]
    const project = join(folder, 'project')
    mkdirSync(join(project, 'agents'), { recursive: true })
    writeFileSync(join(project, 'tool-hub.yaml'), yaml)
    writeFileSync(join(project, 'agents', 'coder.mjs'), program)
    vi.stubEnv('MODEL_KEY', 'a key of a model')
    vi.stubEnv('RESEARCHER_KEY', 'a key of a service')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(
      await cliWith(join(project, 'tool-hub.yaml'), 'spawn', 'List the files.', '--runner', 'coder'),
    ).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/workspace is empty/),
    })
  })

  it.each([
    [['show', 'nobody'], 1, 'Session "nobody" not found'],
    [['--state', 'dead'], 2, 'running, ended, failed'],
    [['--limit', 'many'], 2, '--limit "many" is not a number'],
    [['spawn', 'x', '--time', 'soon'], 2, 'is not a time'],
    [['spawn', 'x', '--runner', 'daed'], 1, 'Did you mean dead?'],
    [['shwo', 'x'], 2, 'Did you mean show?'],
  ])('says of %j what to do', async (words, code, message) => {
    const said = await cli(...words)
    expect(said.code).toBe(code)
    expect(said.stderr).toContain(message)
  })
})
