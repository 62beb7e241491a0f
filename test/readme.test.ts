import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** A new user's empty folder with the built package installed. */
const folder = mkdtempSync(join(tmpdir(), 'tool-hub-readme-'))
const example = /```ts\n(import[\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.[1] ?? ''

beforeAll(() => {
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  symlinkSync(resolve('packages/tool-hub'), join(folder, 'node_modules/tool-hub'))
  for (const name of ['zod', '@types/node'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'example.ts'), example)
  writeFileSync(join(folder, 'example.js'), example)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The compiler's messages about a file of the folder. */
function compile(file: string): string {
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', file]
  const compiler = [resolve('node_modules/typescript/bin/tsc'), ...options]
  return spawnSync(process.execPath, compiler, { cwd: folder, encoding: 'utf8' }).stdout
}

describe('a call with a mistake', () => {
  it('names the wrong argument and the nearest one, or the existing tools', () => {
    writeFileSync(
      join(folder, 'mistakes.ts'),
      `import { createToolHub } from 'tool-hub'
const hub = createToolHub()
await hub.call('core/fs.stat', { pth: 'a' })
await hub.call('core/fs.stta', { path: 'a' })
`,
    )
    const [argument, name, ...others] = compile('mistakes.ts')
      .split(/^(?=mistakes)/m)
      .map((message) => message.trim())
    expect(argument).toContain("'pth' does not exist in type")
    expect(argument).toContain("Did you mean to write 'path'?")
    expect(name).toContain('"core/ask.user" | "core/browser"')
    expect(others).toEqual([])
  })
})

describe('the library example in the README', () => {
  it('is at most twenty lines of code', () => {
    expect(example.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20)
  })

  it('compiles in strict mode against the types of the package', () => {
    expect(compile('example.ts')).toBe('')
  })

  it('runs in an empty folder, and does what the README says', () => {
    const run = () => execFileSync(process.execPath, ['example.js'], { cwd: folder, encoding: 'utf8' })
    expect(run()).toMatch(/^[0-9a-f]{64} \[/)
    expect(readFileSync(join(folder, 'notes/a.md'), 'utf8')).toBe('# hi')
    expect(run()).toContain('CONFLICT')
    writeFileSync(join(folder, 'example.js'), example.replace("'notes/a.md'", "'src/evil.js'"))
    expect(run()).toContain('APPROVAL_UNAVAILABLE')
  })
})
