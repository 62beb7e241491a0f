import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliFolder, jsonLines } from '../../../test/support/cli.ts'
import { ended } from '../../../test/support/record-run.ts'
import { systemClock } from '../../core/context.ts'
import { RunRecords } from '../../records/log/run-records.ts'

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

  it('exits 2 for a run that is not there', async () => {
    expect(await folder.run(['policy', 'replay', 'no-run'])).toMatchObject({ code: 2, stdout: '' })
  })
})
