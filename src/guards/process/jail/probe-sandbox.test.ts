import { expect, it } from 'vitest'
import { probeSandbox } from './probe-sandbox.ts'

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
    'Commands are not fenced in: they see, change and reach all that the user of the hub can. Every one is asked.',
  ])
  const namespaces = await probeSandbox({ force: 'namespaces' })
  expect(namespaces.weaknesses.slice(0, 2)).toEqual([
    chosen('namespaces'),
    'No filter of system calls: io_uring, the keyrings of the user and other rarely used parts of the kernel are in reach. Install bubblewrap (apt install bubblewrap).',
  ])
  const full = await probeSandbox({ force: 'full' })
  const isRoot = process.geteuid?.() === 0
  const unbounded = (shared: string) => [
    `Memory is bounded for each process of a command, not for all of them together${shared}: no cgroup can be made here. Run the hub as a service with Delegate=yes.`,
    ...(isRoot ? ['As root the number of processes has no bound either.'] : []),
  ]
  const hasGroups = full.cgroups !== 'none'
  expect(full.weaknesses).toEqual(hasGroups ? [] : unbounded(', and not what they share'))
  expect(none.weaknesses.slice(2)).toEqual(hasGroups ? [] : unbounded(''))
})
