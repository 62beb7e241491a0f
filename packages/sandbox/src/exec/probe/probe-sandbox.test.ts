import { expect, it } from 'vitest'
import { explainFailure, probeSandbox } from './probe-sandbox.ts'

it('finds the best level that holds here', async () => {
  const report = await probeSandbox()
  expect(report).toMatchObject({ level: 'full', engine: expect.stringMatching(/^bubblewrap \d/) })
  expect(report.weaknesses.filter((line) => line.startsWith('Not at level'))).toEqual([])
})

it('takes a weaker one by the word of the owner, and says so', async () => {
  const report = await probeSandbox({ force: 'namespaces' })
  expect(report).toMatchObject({ level: 'namespaces', engine: expect.stringContaining('util-linux') })
  expect(report.weaknesses.join('\n')).toMatch(/was chosen[\s\S]*No filter of system calls/)
  expect(await probeSandbox({ force: 'none' })).toMatchObject({ level: 'none' })
})

it('says what is weaker than it could be, and what to do', async () => {
  const chosen = (level: string) => `Level ${level} was chosen; better ones were not tried.`
  const none = await probeSandbox({ force: 'none' })
  expect(none.engine).toBe('prlimit only')
  expect(none.weaknesses.slice(0, 2)).toEqual([
    chosen('none'),
    'Commands are not sandboxed: they can see, change and reach everything that the user of the hub can. Every command needs approval.',
  ])
  const namespaces = await probeSandbox({ force: 'namespaces' })
  expect(namespaces.weaknesses.slice(0, 2)).toEqual([
    chosen('namespaces'),
    'No filter of system calls: commands reach the keyrings of the user and the session, vsock, io_uring and generic netlink, can leave set-user-ID files, and can delay other programs by leases on files. Install bubblewrap (apt install bubblewrap).',
  ])
  const full = await probeSandbox({ force: 'full' })
  const isRoot = process.geteuid?.() === 0
  const unbounded = [
    `Memory is limited for each process of a command, not for all of them together, and not what no process maps (memfds, System V segments, buffers of pipes and sockets): no cgroup can be made here. Run the hub as a service with Delegate=yes.`,
    ...(isRoot ? ['As root, the number of processes is not limited either.'] : []),
  ]
  const hasGroups = full.cgroups !== 'none'
  expect(full.weaknesses).toEqual(hasGroups ? [] : unbounded)
  expect(none.weaknesses.slice(2)).toEqual(hasGroups ? [] : unbounded)
})

const NOT_MAPPED = 'bwrap: setting up uid map: Permission denied'

it.each([
  [NOT_MAPPED, { 'kernel/unprivileged_userns_clone': '0' }, false, 'sysctl kernel.unprivileged_userns_clone=1'],
  [NOT_MAPPED, { 'user/max_user_namespaces': '0' }, false, 'sysctl user.max_user_namespaces'],
  [NOT_MAPPED, { 'kernel/apparmor_restrict_unprivileged_userns': '1' }, false, 'AppArmor'],
  ['unshare: unshare failed: Operation not permitted', {}, true, 'The container does not allow user namespaces'],
  [NOT_MAPPED, {}, false, 'The kernel or a security module'],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", {}, true, 'systempaths=unconfined'],
  ['bwrap: Unknown option --disable-userns', {}, false, 'older than 0.8'],
])('says of %j with %j what to do', (why, switches, isContainer, expected) => {
  const readSwitch = (name: string) => new Map(Object.entries(switches)).get(name)
  expect(explainFailure(why, { readSwitch, isContainer })).toContain(expected)
})

it('adds nothing to what it does not know', () => {
  expect(explainFailure('A command could write outside.', { isContainer: true })).toBe('A command could write outside.')
})

const NAMESPACE_CASES: ReadonlyArray<readonly [why: string, switches: Record<string, string>, advice: string]> = [
  [
    'bwrap: setting up uid map: denied',
    { 'kernel/unprivileged_userns_clone': '0' },
    'User namespaces are off: sysctl kernel.unprivileged_userns_clone=1.',
  ],
  [
    'No permissions to create new namespace',
    { 'kernel/unprivileged_userns_clone': '1', 'user/max_user_namespaces': '0' },
    'User namespaces are off: sysctl user.max_user_namespaces=10000.',
  ],
  [
    'creating USER NAMESPACE failed',
    { 'user/max_user_namespaces': '5', 'kernel/apparmor_restrict_unprivileged_userns': '1' },
    'AppArmor keeps programs from user namespaces: give bwrap a profile that allows userns, or sysctl kernel.apparmor_restrict_unprivileged_userns=0.',
  ],
  [
    'clone() failed: EPERM',
    { 'kernel/apparmor_restrict_unprivileged_userns': '0' },
    'The kernel or a security module refuses user namespaces here.',
  ],
]

it.each(NAMESPACE_CASES)('explains %j by the switches %j', (why, switches, advice) => {
  const readSwitch = (name: string) => switches[name]
  expect(explainFailure(why, { readSwitch, isContainer: false })).toBe(`${why} ${advice}`)
})

it('blames /proc only in a container', () => {
  const why = 'mount: special device proc does not exist'
  const readSwitch = () => undefined
  expect(explainFailure(why, { readSwitch, isContainer: false })).toBe(why)
  expect(explainFailure(why, { readSwitch, isContainer: true })).toBe(
    `${why} The container hides parts of /proc: start it with --security-opt systempaths=unconfined.`,
  )
  expect(explainFailure('unshare failed', { readSwitch, isContainer: true })).toBe(
    'unshare failed The container does not allow user namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or a profile that allows unshare and mount.',
  )
  expect(explainFailure('bwrap: Unknown option --disable-userns', { readSwitch, isContainer: true })).toBe(
    'bwrap: Unknown option --disable-userns bubblewrap is older than 0.8: install a newer one.',
  )
})
