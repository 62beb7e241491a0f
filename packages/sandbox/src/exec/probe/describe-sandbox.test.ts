import { chmod, chown } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith, sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import { describeLines, describeSandboxSpec, ownershipNotes, type SandboxDescription } from './describe-sandbox.ts'

const report = { level: 'full', engine: 'bubblewrap 0.8.0', weaknesses: ['No cgroup.'], cgroups: 'none' } as const

describe('the description of a sandbox', () => {
  it('is what a command sees, writes and reaches', async () => {
    const workspace = await folderWith({ '.git/config': '', '.env': '' })
    const spec = sandboxSpec(workspace, {
      protect: [join(workspace, '.git/config')],
      hide: [join(workspace, '.env'), join(workspace, 'gone')],
      environment: { PATH: '/usr/bin', TOKEN: 'hunter2', GIT_CONFIG_KEY_0: 'a', GIT_CONFIG_VALUE_0: 'b' },
    })
    const described = describeSandboxSpec(spec, report)
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
    const spec = sandboxSpec(await folderWith(), { proxySocket: '/run/x.sock' })
    const { network, environment, lines } = describeSandboxSpec(spec, report, { hosts: ['api.github.com'] })
    expect(network).toEqual({ mode: 'proxy', hosts: ['api.github.com'] })
    expect(environment).toContain('HTTPS_PROXY')
    expect(lines).toContain('Network: through the proxy, to api.github.com')
  })

  it.each(['read', 'write'] as const)('lists a granted /tmp once, as what it is: %s', async (mode) => {
    const spec = sandboxSpec(await folderWith())
    const roots = [...spec.roots, { path: '/tmp', mode }]
    const { inMemory, writable, readOnly } = describeSandboxSpec({ ...spec, roots }, report)
    expect(inMemory.map(({ path }) => path)).toEqual(['/run', '/dev/shm'])
    expect(mode === 'read' ? readOnly : writable).toContain('/tmp')
  })

  it('does not promise anything without a sandbox', async () => {
    const spec = sandboxSpec(await folderWith({ '.env': '' }), { level: 'none', hide: ['/x/.env'] })
    const { lines, network, leftOut } = describeSandboxSpec(spec, { ...report, level: 'none' })
    expect(network.mode).toBe('open')
    expect(leftOut).toEqual([{ path: '/x/.env', why: 'needs a sandbox' }])
    expect(lines).toEqual(expect.arrayContaining(['  everything that the user can write', 'Network: not restricted']))
  })

  it('shows names that would turn a line around as what they are', async () => {
    const folder = await folderWith({ 'a\u202eb\u001b[2J': '' })
    const { lines } = describeSandboxSpec(sandboxSpec(folder, { hide: [join(folder, 'a\u202eb\u001b[2J')] }), report)
    expect(lines.join('\n')).toContain('a\\u202eb\\u001b[2J')
  })
})

describe.runIf(process.geteuid?.() === 0)('whose the files are', () => {
  it('is said where commands run as the owner of the workspace', async () => {
    const workspace = await folderWith()
    await chown(workspace, 1000, 1000)
    const { notes, user } = describeSandboxSpec(sandboxSpec(workspace), report)
    expect(user).toEqual({ uid: 1000, gid: 1000 })
    expect(notes).toEqual([
      'Commands run as user 1000, the owner of the workspace, not as 0: that user owns the files they create.',
    ])
  })

  it('is said where commands run as root', async () => {
    const { notes, user } = describeSandboxSpec(sandboxSpec(await folderWith()), report)
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
      `${path} belongs to user 7; commands run as user 1000, who owns the files they create there.`
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
    const spec = sandboxSpec(await folderWith())
    const [note] = ownershipNotes(spec, { uid: 1000, gid: 1000, isOther: false })
    expect(note).toContain('belongs to user 0 and commands run as user 1000: they cannot write there.')
  })
})

const DESCRIPTION: Omit<SandboxDescription, 'lines'> = {
  level: 'full',
  engine: 'bubblewrap 0.8.0',
  readOnly: ['/usr'],
  writable: ['/w'],
  inMemory: [{ path: '/tmp', maxBytes: 512 * 1024 ** 2 }],
  protected: ['/w/.git/config'],
  hidden: ['/w/.env'],
  leftOut: [
    { path: '/w/gone', why: 'does not exist' },
    { path: '/w/link', why: 'is a link' },
  ],
  network: { mode: 'off', hosts: [] },
  user: { uid: 1000, gid: 1000 },
  environment: ['GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_12', 'PATH'],
  limits: { cpuSeconds: 20, memoryBytes: 1024 ** 3, processes: 200, fileBytes: 1536, openFiles: 512 },
  weaknesses: ['No cgroup.'],
  notes: ['Commands run as user 1000.'],
}

const linesOf = (parts: Partial<Omit<SandboxDescription, 'lines'>>) => describeLines({ ...DESCRIPTION, ...parts })

it('says all of a sandbox, a section for each part', () => {
  expect(describeLines(DESCRIPTION)).toEqual([
    'Sandbox: full (bubblewrap 0.8.0), as user 1000',
    ...['Read-only:', '  /usr', 'Writable:', '  /w'],
    ...['In memory, removed with the command:', '  /tmp (at most 512 MiB)'],
    ...['Visible but read-only:', '  /w/.git/config', 'Hidden:', '  /w/.env'],
    ...['Without effect:', '  /w/link: is a link'],
    'Network: off',
    'Environment: GIT_CONFIG_COUNT GIT_CONFIG_… PATH',
    'Limits: 20 s of processor time, 1 GiB of memory, 200 processes, 1.5 KiB per file, 512 open files',
    ...['Note:', '  Commands run as user 1000.', 'Weaker than it could be:', '  No cgroup.'],
  ])
})

it('has no section for what there is none of', () => {
  const none = { inMemory: [], protected: [], hidden: [], leftOut: [], weaknesses: [], notes: [] }
  expect(linesOf({ ...none, level: 'none', readOnly: undefined, writable: undefined })).toEqual([
    'Sandbox: none (bubblewrap 0.8.0), as user 1000',
    ...['Read-only:', '  everything that the user can read', 'Writable:', '  everything that the user can write'],
    'Network: off',
    'Environment: GIT_CONFIG_COUNT GIT_CONFIG_… PATH',
    'Limits: 20 s of processor time, 1 GiB of memory, 200 processes, 1.5 KiB per file, 512 open files',
  ])
})

it.each([
  [{ mode: 'open', hosts: [] }, 'not restricted'],
  [{ mode: 'off', hosts: ['a.example'] }, 'off'],
  [{ mode: 'proxy', hosts: [] }, 'through the proxy, as policy decides'],
  [{ mode: 'proxy', hosts: ['a.example', 'b.example'] }, 'through the proxy, to a.example, b.example'],
] as const)('describes the network %j', (network, expected) => {
  expect(linesOf({ network })).toContain(`Network: ${expected}`)
})

it('shortens the numbered settings of git only', () => {
  const environment = ['GIT_CONFIG_KEY_', 'GIT_CONFIG_KEY_1_X', 'GIT_CONFIG_VALUE_1', 'MY_GIT_CONFIG_KEY_1']
  expect(linesOf({ environment })).toContain(
    'Environment: GIT_CONFIG_KEY_ GIT_CONFIG_KEY_1_X GIT_CONFIG_… MY_GIT_CONFIG_KEY_1',
  )
})

it('says the bounds of the disk where both are known', () => {
  const limits = { ...DESCRIPTION.limits, diskBytes: 10 * 1024 ** 2, newFiles: 7 }
  const said = (parts: object) => linesOf({ limits: { ...limits, ...parts } }).find((line) => line.startsWith('Limits'))
  expect(said({})).toMatch(/, 512 open files, 10 MiB more on disk, 7 new files$/)
  expect(said({ diskBytes: undefined })).toMatch(/, 512 open files$/)
  expect(said({ newFiles: undefined })).toMatch(/, 512 open files$/)
})

it.each([
  [0, '0 bytes'],
  [1, '1 bytes'],
  [1023, '1023 bytes'],
  [1024, '1 KiB'],
  [1024 ** 2, '1 MiB'],
  [1.25 * 1024 ** 3, '1.3 GiB'],
  [1024 ** 4, '1 TiB'],
  [1024 ** 5, '1024 TiB'],
])('writes %d bytes as %s', (maxBytes, expected) => {
  expect(linesOf({ inMemory: [{ path: '/tmp', maxBytes }] })).toContain(`  /tmp (at most ${expected})`)
})

it('writes control and format characters as escapes of four digits', () => {
  expect(linesOf({ hidden: ['/w/a\u0007b\u200bc'] })).toContain('  /w/a\\u0007b\\u200bc')
})
