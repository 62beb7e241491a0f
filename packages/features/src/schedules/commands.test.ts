import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCliHere } from '../../../../test/support/cli-here.ts'
import { soon } from '../../../../test/support/soon.ts'
import { commandKit } from '../../../tool-hub/src/cli/command-kit.ts'
import { startSchedules } from './commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-cron-cli-'))
const config = join(folder, 'tool-hub.yaml')
beforeAll(() => {
  const entries = 'entries: { stamp: { every: 1h, calls: [{ tool: core/util.time.now }] } }'
  writeFileSync(config, `runs: ./runs\ndata: ./data\nschedules: { timeZone: Europe/Berlin, ${entries} }\n`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const { run: cli, heard } = useCliHere('cron', config)

describe('tool-hub cron', () => {
  it('makes, lists, changes, runs and removes a schedule', async () => {
    const added = await cli('add', 'job', 'core/util.time.now', '{}', '--cron', '0 9 * * 1-5', '--missed', 'skip')
    expect(added).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^job {2}owner {2}0 9 \* \* 1-5 {2}Europe\/Berlin {2}next \d/),
    })
    const listed = await cli()
    expect(listed.stdout).toContain('never run')
    expect(listed.stderr).toContain('In the config, but not started yet: stamp')
    expect((await cli('update', 'job', '--every', '90m', '--disable')).stdout).toMatch(/every 90m.* off /)
    const run = await cli('run', 'job')
    expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/ ok .* cron-job-\d{8}-\d{6}-[0-9a-f]{6}/) })
    const { stdout } = await cli('runs', 'job', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ runs: [{ status: 'ok', runId: expect.stringMatching(/^cron-job/) }] })
    expect(JSON.parse((await cli('status', '--json')).stdout)).toMatchObject({
      isTicking: false,
      schedules: 1,
      enabled: 0,
    })
    expect((await cli('remove', 'job')).stdout).toBe('Removed job.\n')
  })

  it('takes names in any language', async () => {
    const added = await cli('add', '日报', 'core/util.time.now', '--every', '1h')
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^日报 {2}owner/) })
    expect(await cli('run', '日报')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ ok .* cron--\S*-[0-9a-f]{6}/),
    })
    expect((await cli('runs', '日报')).stdout).toContain(' ok ')
    expect((await cli('add', 'cafe\u0301', 'core/util.time.now', '--every', '1h')).stdout).toMatch(/^caf\u00e9 /)
    expect((await cli('remove', 'cafe\u0301')).stdout).toBe('Removed caf\u00e9.\n')
    expect((await cli('remove', '日报')).stdout).toBe('Removed 日报.\n')
    const refused = await cli('add', '日 报', 'core/util.time.now', '--every', '1h')
    expect([refused.code === 0, refused.stderr]).toEqual([
      false,
      expect.stringContaining('letters and digits of any language'),
    ])
  })

  it('says how a run failed, by its exit code too', async () => {
    await cli('add', 'bad', '--every', '1h', '--calls', '[{"tool":"core/fs.readText","input":{"path":"nothing"}}]')
    const failed = await cli('run', 'bad')
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('NOT_FOUND') })
    expect((await cli('remove', 'bad')).stdout).toBe('Removed bad.\n')
  })

  it('does not run a schedule of a token that was revoked', async () => {
    const store = openStore(join(folder, 'data'))
    const calls = [{ tool: 'core/util.time.now' }]
    const rights = { caller: 'x', principal: { name: 'token:gone' } }
    const definition = {
      when: { everyMs: 3_600_000 },
      since: 0,
      timeZone: 'UTC',
      calls,
      rights,
      overlap: 'skip',
      missed: 'once',
    }
    const body = JSON.stringify({
      ...definition,
      createdBy: { by: 'x', tainted: false },
      timeoutMs: 1_000,
      jitterMs: 0,
    })
    const row = {
      id: 'schedule-x',
      principal: 'token:gone',
      name: 'x',
      state: 'on',
      version: 0,
      createdAt: 0,
      runs: 0,
    } as const
    await store.schedules.add({ ...row, body }, { most: 9 })
    expect(await cli('run', 'x')).toMatchObject({ code: 3, stdout: expect.stringContaining('token:gone') })
    await store.schedules.remove('schedule-x')
    await store.close()
  })

  it('runs what is due, and what the config says, until it is enough', async () => {
    await soon(async (at) => {
      const { code, stderr } = await cli('add', 'soon', 'core/util.time.now', '--at', at)
      if (code !== 0) throw new Error(stderr)
    })
    const enough = new AbortController()
    const before = heard().stdout.length
    const running = startSchedules(commandKit, { config }, enough.signal)
    await expect.poll(() => heard().stdout.slice(before)).toMatch(/^soon .* running .*\nsoon .* ok /)
    enough.abort()
    await running
    expect(heard().stderr).toMatch(/Running [12] schedules, the next at .*Press Ctrl-C to stop/)
    expect((await cli()).stdout).toMatch(/^config:stamp .*\nsoon .* off .* ok /)
    expect(await cli('remove', 'config:stamp')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('defined in the config'),
    })
  })

  it('shows the next times by the clocks of the zone', async () => {
    const { stdout } = await cli('next', '0 9 * * 1-5', '--count', '3')
    expect(stdout).toMatch(/^(\d{4}-\d\d-\d\d 09:00:00 \+0[12]:00\n){3}$/)
    expect((await cli('next', '0 9 * * *', '--time-zone', 'UTC', '--json')).stdout).toMatch(/T09:00:00\.000Z/)
  })

  it.each([
    [['next', '0 25 * * *'], 'field 2 (hour), "25" at character 3'],
    [['next', '0 9 * * *', '--count', '0'], '--count "0"'],
    [['add', 'x', 'core/util.time.now'], 'Give --cron, --every or --at'],
    [['add', 'x', '--every', '5m'], 'No tool is given.'],
    [['add', 'x', 'core/util.time.nwo', '--every', '5m'], 'core/util.time.now'],
    [['add', 'x', 'core/util.time.now', '--every', '5m', '--at', '2027-01-01T00:00'], 'exclude each other'],
    [['add', 'x', 'core/util.time.now', '{', '--every', '5m'], 'is not JSON'],
    [['add', 'x', 'core/util.time.now', '--every', 'soon'], 'is not a time'],
    [['add', 'x', 'core/util.time.now', '--every', '5m', '--missed', 'maybe'], 'skip, once, all'],
    [['update', 'x'], 'No change is given'],
    [['remove', 'nobody'], 'Schedule "nobody" not found'],
    [['runs', 'x', '--limit', 'many'], '--limit "many"'],
    [['lsit'], 'Did you mean list?'],
  ])('exits 2 for %j', async (words, message) => {
    const { code, stderr } = await cli(...words)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })
})
