import { chmod, chown } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith, jailSpec } from '../../../../test/support/jail-spec.ts'
import { describeJail } from './describe-jail.ts'
import { ownershipNotes } from './ownership-notes.ts'

const report = { level: 'full', engine: 'bubblewrap 0.8.0', weaknesses: ['No cgroup.'], cgroups: 'none' } as const

describe('what is said of a jail', () => {
  it('is what a command sees, writes and reaches', async () => {
    const workspace = await folderWith({ '.git/config': '', '.env': '' })
    const spec = jailSpec(workspace, {
      protect: [join(workspace, '.git/config')],
      hide: [join(workspace, '.env'), join(workspace, 'gone')],
      environment: { PATH: '/usr/bin', TOKEN: 'hunter2', GIT_CONFIG_KEY_0: 'a', GIT_CONFIG_VALUE_0: 'b' },
    })
    const described = describeJail(spec, report)
    expect(described).toMatchObject({
      level: 'full',
      writable: [workspace],
      protected: expect.arrayContaining([join(workspace, '.git/config'), '/proc']),
      hidden: expect.arrayContaining([join(workspace, '.env')]),
      leftOut: [{ path: join(workspace, 'gone'), why: 'does not exist' }],
      network: { mode: 'off' },
      weaknesses: ['No cgroup.'],
    })
    expect(described.readOnly).toEqual(expect.arrayContaining(['/usr', '/etc']))
    const text = described.lines.join('\n')
    expect(text).toMatch(/^Sandbox: full \(bubblewrap 0\.8\.0\), as user \d+$/m)
    expect(text).toContain('Environment: GIT_CONFIG_… PATH TOKEN')
    expect(text).not.toContain('hunter2')
  })

  it('names the hosts behind the proxy', async () => {
    const spec = jailSpec(await folderWith(), { proxySocket: '/run/x.sock' })
    const { network, environment, lines } = describeJail(spec, report, { hosts: ['api.github.com'] })
    expect(network).toEqual({ mode: 'proxy', hosts: ['api.github.com'] })
    expect(environment).toContain('HTTPS_PROXY')
    expect(lines).toContain('Network: through the proxy, to api.github.com')
  })

  it('does not promise anything without a jail', async () => {
    const spec = jailSpec(await folderWith({ '.env': '' }), { level: 'none', hide: ['/x/.env'] })
    const { lines, network, leftOut } = describeJail(spec, { ...report, level: 'none' })
    expect(network.mode).toBe('open')
    expect(leftOut).toEqual([{ path: '/x/.env', why: 'needs a sandbox' }])
    expect(lines).toEqual(expect.arrayContaining(['  all that the user may write', 'Network: not bounded']))
  })

  it('shows names that would turn a line around as what they are', async () => {
    const folder = await folderWith({ 'a\u202eb\u001b[2J': '' })
    const { lines } = describeJail(jailSpec(folder, { hide: [join(folder, 'a\u202eb\u001b[2J')] }), report)
    expect(lines.join('\n')).toContain('a\\u202eb\\u001b[2J')
  })
})

describe.runIf(process.geteuid?.() === 0)('whose the files are', () => {
  it('is said where commands run as the owner of the workspace', async () => {
    const workspace = await folderWith()
    await chown(workspace, 1000, 1000)
    const { notes, user } = describeJail(jailSpec(workspace), report)
    expect(user).toEqual({ uid: 1000, gid: 1000 })
    expect(notes).toEqual([
      "Commands run as user 1000, the owner of the workspace, not as 0: files they make are that user's.",
    ])
  })

  it('is said where commands run as root', async () => {
    const { notes, user } = describeJail(jailSpec(await folderWith()), report)
    expect(user.uid).toBe(0)
    expect(notes).toEqual([expect.stringMatching(/^Commands run as root without its capabilities/)])
  })

  it('is said of each writable root that belongs to another user, by what its mode lets commands do', async () => {
    const [open, shared, shut] = [await folderWith(), await folderWith(), await folderWith()]
    for (const [path, mode] of [
      [open, 0o702],
      [shared, 0o720],
      [shut, 0o702],
    ] as const)
      await chmod(path, mode)
    for (const [path, gid] of [
      [open, 5],
      [shared, 1000],
      [shut, 1000],
    ] as const)
      await chown(path, 7, gid)
    const write = (path: string) => ({ path, mode: 'write' }) as const
    const roots = [write(open), write(shared), write(shut), { path: shut, mode: 'read' } as const, write('/no/such')]
    const may = (path: string) =>
      `${path} belongs to user 7; commands run as user 1000, and files they make there are that user's.`
    const mayNot =
      'belongs to user 7 and commands run as user 1000: they cannot write there. Give it to that user (chown -R 1000), or run the hub as user 7.'
    expect(ownershipNotes({ roots }, { uid: 1000, gid: 1000, isOther: false })).toEqual([
      ...[may(open), may(shared), `${shut} ${mayNot}`],
    ])
    expect(ownershipNotes({ roots: [write(shut)] }, { uid: 0, gid: 1000, isOther: false })[1]).toBe(
      `${shut} ${mayNot.replace('user 1000:', 'user 0 without its rights:').replace('chown -R 1000', 'chown -R 0')}`,
    )
    expect(ownershipNotes({ roots: [write(shut)] }, { uid: 7, gid: 7, isOther: false })).toEqual([])
  })

  it('is said where commands cannot write', async () => {
    const spec = jailSpec(await folderWith())
    const [note] = ownershipNotes(spec, { uid: 1000, gid: 1000, isOther: false })
    expect(note).toContain('belongs to user 0 and commands run as user 1000: they cannot write there.')
  })
})
