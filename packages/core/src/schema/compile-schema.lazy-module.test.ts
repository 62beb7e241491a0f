import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { bundleModule } from '../../../../test/support/run-module.ts'
import { lazyModule, loadLazyModules } from '../lazy-module.ts'

/** Of this test only: what is registered is loaded by every service of this process. */
const ALONE = { isPreloaded: false }

it('loads a module once, when it is first needed', async () => {
  let loads = 0
  const load = lazyModule(async () => ({ loads: ++loads }), ALONE)
  expect(loads).toBe(0)
  const [first, second] = await Promise.all([load(), load()])
  expect(second).toBe(first)
  expect(await load()).toEqual({ loads: 1 })
})

it('tries again after a failure', async () => {
  let tries = 0
  const load = lazyModule(async () => {
    if (++tries === 1) throw new Error('not yet')
    return tries
  }, ALONE)
  await expect(load()).rejects.toThrow('not yet')
  expect(await load()).toBe(2)
})

it('a failure for lack of resources is typed and can be tried again, others stay as they are', async () => {
  const spawn = Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' })
  const exhausted = lazyModule(async () => {
    throw new Error('It could not be started.', { cause: spawn })
  }, ALONE)
  const broken = lazyModule(async () => {
    throw Object.assign(new Error('the file does not exist'), { code: 'ENOENT' })
  }, ALONE)
  await expect(exhausted()).rejects.toMatchObject({ code: 'OUT_OF_RESOURCES', retryable: true })
  await expect(broken()).rejects.toMatchObject({ code: 'ENOENT' })
})

it('all registered modules can be loaded in advance, and those that they register; one that is broken is left', async () => {
  const loaded: string[] = []
  lazyModule(async () => {
    throw new Error('broken')
  })
  lazyModule(async () => loaded.push('optional'), ALONE)
  lazyModule(async () => {
    loaded.push('outer')
    lazyModule(async () => loaded.push('inner'))
  })
  await loadLazyModules()
  expect(loaded).toEqual(['outer', 'inner'])
})

it('too few descriptors fail the loads of that moment, also of what a module imports, and no later one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tool-hub-lazy-'))
  try {
    writeFileSync(join(folder, 'outer.mjs'), "export { value } from './inner.mjs'")
    writeFileSync(join(folder, 'inner.mjs'), "export const value = 'loaded'")
    const script = await bundleModule('test/support/load-without-descriptors.ts')
    const words = [
      'ulimit -n "$1"; exec "$2" "$3" "$4"',
      '-',
      '96',
      process.execPath,
      script,
      join(folder, 'outer.mjs'),
    ]
    const outcomes = JSON.parse(String(execFileSync('bash', ['-c', ...words])))
    expect(outcomes[0]).toEqual({
      code: 'OUT_OF_RESOURCES',
      message: 'A part of tool-hub could not be loaded: this process has too many files and connections open.',
      retryable: true,
    })
    expect(outcomes.at(-1)).toBe('loaded')
    const first = outcomes.indexOf('loaded')
    expect(
      outcomes.slice(0, first).every((each: unknown) => (each as { code: string }).code === 'OUT_OF_RESOURCES'),
    ).toBe(true)
    expect(outcomes.slice(first).every((each: unknown) => each === 'loaded')).toBe(true)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
