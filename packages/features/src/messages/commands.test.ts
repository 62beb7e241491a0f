import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { useCliHere } from '../../../../test/support/cli-here.ts'
import { KNOWN, type MessageServices, startMessageServices } from '../../../../test/support/message-services.ts'
import { withHub } from '../../../tool-hub/src/cli/hub/with-hub.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-cli-messages-'))
const config = join(folder, 'tool-hub.yaml')
let services: MessageServices
beforeAll(async () => {
  services = await startMessageServices()
  vi.stubEnv('TOOL_HUB_TEST_SLACK', `${services.url}${KNOWN.slack}`)
  writeFileSync(
    config,
    `sandbox: { root: . }
data: ./kept
runs: ./runs
messages:
  channels:
    ops: { kind: slack, url: "\${env:TOOL_HUB_TEST_SLACK}" }
    team: { kind: discord, url: "\${env:TOOL_HUB_TEST_UNSET}" }
`,
  )
})
afterAll(async () => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
  await services.close()
})

const { run } = useCliHere('messages', config)

describe('tool-hub messages', () => {
  it('lists the channels, and says what one lacks', async () => {
    const { code, stdout, stderr } = await run('channels')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^console +console +send, edit, attach\nops +slack +send\nteam +discord +not ready\n$/)
    expect(stderr).toContain('team: The channel team needs the environment variable TOOL_HUB_TEST_UNSET')
    expect(JSON.parse((await run('--json')).stdout)).toMatchObject([
      { name: 'console' },
      { name: 'ops' },
      { name: 'team' },
    ])
  })

  it('tests a channel, and shows what would be sent without sending it', async () => {
    const dry = await run('test', 'ops', '--dry-run')
    expect(dry.stdout).toMatch(/^POST http:\/\/127\.0\.0\.1:\d+\/…\ncontent-type: application\/json/)
    expect(dry.stdout).not.toContain('path-secret')
    expect(services.got).toEqual([])
    expect((await run('test', 'ops')).stdout).toBe('Sent to ops.\n')
    expect(services.got[0]!.json.text).toMatch(/^\*Test of tool-hub\*\nA test of the channel ops/)
  })

  it('sends to the inbox and reads it, where what agents wrote cannot drive the terminal', async () => {
    expect(await run('inbox')).toMatchObject({ code: 0, stdout: '', stderr: 'The inbox is empty.\n' })
    await run('send', 'console', 'Half full.', '--title', 'Disk', '--level', 'warning')
    const message = { channel: 'console', text: 'red \u202e text\nsecond' }
    await withHub({ config }, (hub) =>
      hub.as({ name: 'token:ci' }).callDynamic('core/message.send', message, { caller: 'the owner' }),
    )
    const { stdout } = await run('inbox', '--unread', '--read')
    expect(stdout).toMatch(/cli:.* in owner {2}\[warning, new\]\n {2}Disk\n {2}Half full\./)
    expect(stdout).toContain('red \\u{202e} text\n  second')
    expect(stdout).toContain('  token:ci (the owner) in ')
    expect((await run('inbox', '--unread')).stderr).toContain('Nothing is new.')
    expect(JSON.parse((await run('inbox', '--json')).stdout)).toMatchObject({ unread: 0, messages: [{}, {}] })
  })

  it.each([
    [['send', 'opps', 'x'], 'Unknown channel "opps"'],
    [['test', 'team'], 'TOOL_HUB_TEST_UNSET'],
    [['send', 'ops', 'x', '--to', 'anna'], 'has no recipients'],
    [['send', 'ops', 'x', '--level', 'loud'], 'loud'],
    [['snd'], 'Did you mean send?'],
  ])('says what is wrong with %j', async (words, message) => {
    const { code, stdout, stderr } = await run(...words)
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
  })
})
