import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { hashJson } from '@tool-hub/core/lib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliFolder, jsonLines } from '../../../../../test/support/cli.ts'
import { ended } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { RunRecords } from '../../../../runtime/src/records/log/run-records.ts'

const folder = cliFolder()
afterAll(folder.remove)
beforeAll(async () => {
  const options = { durability: 'behind', clock: systemClock } as const
  const records = RunRecords.open(join(folder.path, 'runs'), 'past-run', options)
  const call = (callId: string, tool: string, more: object) =>
    records.append({ ...ended(callId), tool, caller: 'ada', effect: 'allow', ...more })
  call('c-1', 'test/echo', { args: { a: 1 } })
  call('c-2', 'test/forbidden', { args: {}, effect: 'deny', status: 'denied' })
  call('c-3', 'test/echo', { argsBytes: 5_000 })
  call('c-4', 'test/gone', { args: {} })
  call('c-5', 'test/echo', { args: { key: '[redacted:github-token]' } })
  await records.close()
  const byToken = RunRecords.open(join(folder.path, 'runs'), 'token-run', options)
  const denied = { effect: 'deny', status: 'denied', rule: 'deny test/echo (token researcher)' } as const
  byToken.append({ ...ended('c-1'), tool: 'test/echo', caller: 'token:researcher', args: { a: 1 }, ...denied })
  await byToken.close()
  const said = RunRecords.open(join(folder.path, 'runs'), 'said-run', options)
  const echo = (callId: string, a: string, effect: 'allow' | 'ask') =>
    said.append({ ...ended(callId), tool: 'test/echo', caller: 'ada', effect, args: { a } })
  echo('c-1', 'wombat', 'ask')
  said.append({ type: 'user-text-added', chars: 13, text: "Echo 'wombat'" })
  echo('c-2', 'wombat', 'allow')
  echo('c-3', 'dingo', 'ask')
  const of = { callId: 'c-4', tool: 'test/echo' }
  const values = [{ argument: 'a', hash: hashJson('dingo') }]
  const answer = { decision: 'allow', remember: 'session', covers: 'values', values } as const
  said.append({ type: 'approval-answered', ...of, approval: 'a-1', by: 'ada', ...answer })
  echo('c-4', 'dingo', 'ask')
  echo('c-5', 'dingo', 'allow')
  await said.close()
})

describe.concurrent('tool-hub policy replay', () => {
  it('finds nothing where nothing has changed, and exits 0', async () => {
    const { code, stdout, stderr } = await folder.run(['policy', 'replay', 'past'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toBe('0 of 5 calls would be decided differently, 3 skipped\n')
  })

  it('shows what other rules would have decided, by which rule, and exits 1', async () => {
    const rules = '  - { deny: test/echo, reason: "silence" }\n  - { deny: test/forbidden }\n'
    const other = folder.write('other.yaml', `policy:\n${rules}`)
    const words = ['policy', 'replay', 'past-run', '--policy', other]
    const [text, json] = await Promise.all([folder.run(words), folder.run([...words, '--json'])])
    expect(text.code).toBe(1)
    expect(text.stdout).toBe('allow -> deny  test/echo  line 2, by deny test/echo (other.yaml:2)\n')
    expect(text.stderr).toBe('1 of 5 calls would be decided differently, 3 skipped\n')
    expect(jsonLines(json.stdout)).toEqual([
      {
        callId: 'c-1',
        seq: 2,
        tool: 'test/echo',
        before: 'allow',
        after: 'deny',
        rule: 'deny test/echo (other.yaml:2)',
        source: 'other.yaml:2',
        reason: 'silence',
      },
    ])
  })

  it('keeps what the rules of a token denied, and names the folder of the paths', async () => {
    mkdirSync(join(folder.path, 'rules'), { recursive: true })
    const other = folder.write('rules/other.yaml', 'policy:\n  - { deny: write:fs, on: ./notes/** }\n')
    const replays = await Promise.all(
      [[], ['--policy', other]].map((words) => folder.run(['policy', 'replay', 'token-run', ...words])),
    )
    for (const { code, stdout } of replays) expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(replays[1]!.stderr).toContain(`Relative paths in ${other} are below ${join(folder.path, 'rules')}.`)
  })

  it('decides by what the user had said and people had approved before each call', async () => {
    const where = ['from-user', 'approved-before'].map((a) => `  - { allow: test/echo, where: { a: ${a} } }\n`)
    const rules = `policy:\n  - { ask: test/echo }\n${where.join('')}`
    const config = folder.write('evidence.yaml', `version: 1\nplugins: [./plugin.mjs]\n${rules}`)
    const { code, stdout, stderr } = await folder.run(['policy', 'replay', 'said-run', '--config', config])
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: '0 of 5 calls would be decided differently, 0 skipped\n',
    })
    const other = folder.write('asks.yaml', 'policy:\n  - { ask: test/echo }\n')
    const asks = await folder.run(['policy', 'replay', 'said-run', '--config', config, '--policy', other])
    expect(asks.stderr).toBe('2 of 5 calls would be decided differently, 0 skipped\n')
  })

  it('exits 2 for a run that is not there', async () => {
    expect(await folder.run(['policy', 'replay', 'no-run'])).toMatchObject({ code: 2, stdout: '' })
  })
})
