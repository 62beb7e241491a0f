import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** An empty folder of a new user, with the built package installed. */
const folder = mkdtempSync(join(tmpdir(), 'tool-hub-readme-'))
const example = /```ts\n(import[\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''

beforeAll(() => {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  symlinkSync(resolve('.'), join(folder, 'node_modules/tool-hub'))
  for (const name of ['zod', '@types/node'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'example.ts'), example)
  writeFileSync(join(folder, 'example.js'), example)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the example of the README', () => {
  it('is at most twenty lines of code', () => {
    expect(example.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20)
  })

  it('compiles in strict mode against the types of the package', () => {
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      'node',
      'example.ts',
    ]
    execFileSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...options], {
      cwd: folder,
      stdio: 'pipe',
    })
  })

  it('runs in an empty folder, and does what the README says of it', () => {
    const run = () => execFileSync(process.execPath, ['example.js'], { cwd: folder, encoding: 'utf8' })
    expect(run()).toMatch(/^[0-9a-f]{64} \[/)
    expect(readFileSync(join(folder, 'notes/a.md'), 'utf8')).toBe('# hi')
    expect(run()).toContain('CONFLICT')
    writeFileSync(join(folder, 'example.js'), example.replace("'notes/a.md'", "'src/evil.js'"))
    expect(run()).toContain('APPROVAL_UNAVAILABLE')
  })
})
