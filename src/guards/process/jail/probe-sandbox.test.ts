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
