import { expect, it } from 'vitest'
import type { JailDescription } from './describe-jail.ts'
import { describeLines } from './describe-lines.ts'

const DESCRIPTION: Omit<JailDescription, 'lines'> = {
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

const linesOf = (parts: Partial<Omit<JailDescription, 'lines'>>) => describeLines({ ...DESCRIPTION, ...parts })

it('says all of a sandbox, a section for each part', () => {
  expect(describeLines(DESCRIPTION)).toEqual([
    'Sandbox: full (bubblewrap 0.8.0), as user 1000',
    ...['Read-only:', '  /usr', 'Writable:', '  /w'],
    ...['In memory, gone with the command:', '  /tmp (at most 512 MiB)'],
    ...['Seen but never changed:', '  /w/.git/config', 'Hidden:', '  /w/.env'],
    ...['Without effect:', '  /w/link: is a link'],
    'Network: off',
    'Environment: GIT_CONFIG_COUNT GIT_CONFIG_… PATH',
    'Limits: 20 s of processor time, 1 GiB of memory, 200 processes, 1.5 KiB a file, 512 open files',
    ...['Note:', '  Commands run as user 1000.', 'Weaker than it could be:', '  No cgroup.'],
  ])
})

it('has no section for what there is none of', () => {
  const none = { inMemory: [], protected: [], hidden: [], leftOut: [], weaknesses: [], notes: [] }
  expect(linesOf({ ...none, level: 'none', readOnly: undefined, writable: undefined })).toEqual([
    'Sandbox: none (bubblewrap 0.8.0), as user 1000',
    ...['Read-only:', '  all that the user may read', 'Writable:', '  all that the user may write'],
    'Network: off',
    'Environment: GIT_CONFIG_COUNT GIT_CONFIG_… PATH',
    'Limits: 20 s of processor time, 1 GiB of memory, 200 processes, 1.5 KiB a file, 512 open files',
  ])
})

it.each([
  [{ mode: 'open', hosts: [] }, 'not bounded'],
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
