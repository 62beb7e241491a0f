import { execFileSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ToolResult } from '../packages/core/src/call.ts'
import type { Hub } from '../packages/runtime/src/hub/hub.ts'
import { draftsBelow, openBelow } from './support/left-behind.ts'
import { bundleModule } from './support/run-module.ts'

const isRoot = process.getuid?.() === 0

let base: string
let root: string
let mounts: string[]
let hub: Hub

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-faults-')))
  root = join(base, 'ws')
  mounts = []
  mkdirSync(root)
})

afterEach(async () => {
  await hub.close({ abort: true })
  for (const folder of mounts) execFileSync('umount', ['--lazy', folder])
  rmSync(base, { recursive: true, force: true })
})

function open(): void {
  hub = createToolHub({
    sandbox: { root },
    policy: [{ allow: 'write:fs' }, { allow: 'danger:destructive' }],
    runs: join(base, 'runs'),
    data: join(base, 'data'),
  })
}

function mount(folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  mounts.push(folder)
}

/** Calls in a run of its own, so that one refusal does not count against the next. */
const call = (tool: string, input: unknown, signal?: AbortSignal): Promise<ToolResult> =>
  hub.callDynamic(tool, input, { run: `run-${Math.random().toString(36).slice(2)}`, signal })

/** Every way to a file's content, and every way to change it. */
const usesOf = (path: string): Record<string, unknown> => ({
  'core/fs.readText': { path },
  'core/fs.sha256': { path },
  'core/fs.writeText': { path, text: 'new', overwrite: true },
  'core/fs.edit': { path, edits: [{ oldText: 'a', newText: 'b' }] },
  'core/fs.applyPatch': { input: `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch` },
})

/** A refusal that a model can act on: not a defect, not a hang. */
function expectTyped(result: ToolResult, what: string): void {
  expect(result.ok, what).toBe(false)
  expect(result.error?.code, `${what}: ${result.error?.message}`).not.toMatch(/^(INTERNAL|TIMEOUT)$/)
}

/** What this process has read so far, from files and everywhere. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
}

function expectNothingLeft(): void {
  expect(draftsBelow(root)).toEqual([])
  expect(openBelow(root)).toEqual([])
}

describe('what is not a text file', () => {
  it('a FIFO is refused by every tool, immediately', async () => {
    open()
    execFileSync('mkfifo', [join(root, 'p')])
    for (const [tool, input] of Object.entries(usesOf('p'))) expectTyped(await call(tool, input), tool)
    const found = await call('core/fs.searchText', { root: '.', query: 'a', glob: '**' })
    expect(found).toMatchObject({ ok: true })
    expect(statSync(join(root, 'p')).isFIFO()).toBe(true)
    expectNothingLeft()
  })

  it.skipIf(!isRoot)('a device is refused by every tool, immediately', async () => {
    open()
    execFileSync('mknod', [join(root, 'zero'), 'c', '1', '5'])
    for (const [tool, input] of Object.entries(usesOf('zero'))) expectTyped(await call(tool, input), tool)
    expect(await call('core/fs.searchText', { root: '.', query: 'a', glob: '**' })).toMatchObject({ ok: true })
    expect(statSync(join(root, 'zero')).isCharacterDevice()).toBe(true)
    expectNothingLeft()
  })

  it('a folder is not a file', async () => {
    open()
    mkdirSync(join(root, 'folder'))
    writeFileSync(join(root, 'folder/a.txt'), 'a')
    for (const [tool, input] of Object.entries(usesOf('folder'))) expectTyped(await call(tool, input), tool)
    for (const [tool, input] of Object.entries(usesOf('folder/a.txt/b'))) expectTyped(await call(tool, input), tool)
    expect(readFileSync(join(root, 'folder/a.txt'), 'utf8')).toBe('a')
    expectNothingLeft()
  })

  it('a name of 255 bytes works, one of 256 is refused', async () => {
    open()
    const long = 'ä'.repeat(127)
    expect(await call('core/fs.writeText', { path: `${long}x`, text: 'a' })).toMatchObject({ ok: true })
    expect(await call('core/fs.readText', { path: `${long}x` })).toMatchObject({ ok: true })
    for (const path of [`${long}xx`, `sub/${'x'.repeat(256)}`, `${'x'.repeat(300)}/y`, 'x/'.repeat(3_000)]) {
      for (const [tool, input] of Object.entries(usesOf(path))) {
        expect((await call(tool, input)).error?.code, tool).toMatch(/^(INPUT_SCHEMA_INVALID|NOT_FOUND)$/)
      }
    }
    expect(readdirSync(root)).toEqual([`${long}x`])
  })
})

describe('a sparse file of 1 TB', () => {
  beforeEach(() => {
    open()
    writeFileSync(join(root, 'huge.txt'), 'first line\n')
    truncateSync(join(root, 'huge.txt'), 1024 ** 4)
  })

  it('is refused where it would have to be read whole, with the size in the message', async () => {
    const before = bytesRead()
    for (const [tool, input] of Object.entries(usesOf('huge.txt'))) {
      if (tool === 'core/fs.sha256' || tool === 'core/fs.writeText') continue
      const result = await call(tool, input)
      // Reading gives the beginning with a pointer to the rest, or says that it is too large; changing is refused.
      if (tool === 'core/fs.readText' && result.ok) expect(JSON.stringify(result).length).toBeLessThan(2_000_000)
      else expect(result.error?.code, `${tool}: ${result.error?.message}`).toBe('FILE_TOO_LARGE')
    }
    expect(bytesRead() - before).toBeLessThan(100_000_000)
    expectNothingLeft()
  })

  it('does not hold up a search', async () => {
    const result = await call(
      'core/fs.searchText',
      { root: '.', query: 'first', glob: '**' },
      AbortSignal.timeout(10_000),
    )
    expect(result.error?.code).toBeUndefined()
  })

  it('can be stopped while it is hashed', async () => {
    const result = await call('core/fs.sha256', { path: 'huge.txt' }, AbortSignal.timeout(200))
    expect(result.error?.code).toMatch(/^(ABORTED|FILE_TOO_LARGE)$/)
    expectNothingLeft()
  })

  it('is not copied, by itself or in a folder: the size and the limit are said, and no byte is written', async () => {
    mkdirSync(join(root, 'folder'))
    linkSync(join(root, 'huge.txt'), join(root, 'folder/huge.txt'))
    const result = await call('core/fs.copy', { from: 'huge.txt', to: 'copy.txt' })
    expect(result.error).toMatchObject({
      code: 'FILE_TOO_LARGE',
      message: expect.stringMatching(/1099511627776 bytes.*limit is 10737418240/),
    })
    expect((await call('core/fs.copy', { from: 'folder', to: 'copy' })).error?.code).toBe('FILE_TOO_LARGE')
    expect(readdirSync(root)).toEqual(['folder', 'huge.txt'])
    expectNothingLeft()
  })
})

describe.skipIf(!isRoot)('a disk', () => {
  it('that is read-only is read, and refuses every change', async () => {
    mount(root, 'size=1m')
    for (const name of ['a.txt', 'b.txt']) writeFileSync(join(root, name), 'a\n')
    execFileSync('mount', ['-o', 'remount,ro', root])
    open()
    expect(await call('core/fs.readText', { path: 'a.txt' })).toMatchObject({ ok: true })
    const changes: [string, unknown][] = [
      ['core/fs.writeText', { path: 'new.txt', text: 'x' }],
      ['core/fs.writeText', { path: 'a.txt', text: 'x', overwrite: true }],
      ['core/fs.edit', { path: 'a.txt', edits: [{ oldText: 'a', newText: 'b' }] }],
      ['core/fs.mkdir', { path: 'folder' }],
      ['core/fs.move', { from: 'a.txt', to: 'c.txt' }],
      ['core/fs.copy', { from: 'a.txt', to: 'c.txt' }],
      ['core/fs.deletePath', { path: 'b.txt', confirm: true }],
    ]
    for (const [tool, input] of changes) {
      expect((await call(tool, input)).error, tool).toMatchObject({ code: 'PATH_DENIED' })
    }
    expect(readdirSync(root)).toEqual(expect.arrayContaining(['a.txt', 'b.txt']))
    expectNothingLeft()
  })

  it('that is full keeps the old content, says so, and works when there is room again', async () => {
    mount(root, 'size=512k')
    writeFileSync(join(root, 'a.txt'), 'a\n')
    open()
    const text = 'x'.repeat(600_000)
    const changes: [string, unknown][] = [
      ['core/fs.writeText', { path: 'new.txt', text }],
      ['core/fs.writeText', { path: 'a.txt', text, overwrite: true }],
      ['core/fs.edit', { path: 'a.txt', edits: [{ oldText: 'a', newText: text }] }],
      ['core/fs.applyPatch', { input: `*** Begin Patch\n*** Add File: p.txt\n+${text}\n*** End Patch` }],
    ]
    for (const [tool, input] of changes) {
      expect((await call(tool, input)).error, tool).toMatchObject({
        code: 'OUT_OF_RESOURCES',
        message: expect.stringContaining('full'),
      })
      expect(readdirSync(root), tool).toEqual(['a.txt'])
      expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a\n')
    }
    expectNothingLeft()
    expect(await call('core/fs.writeText', { path: 'new.txt', text: 'fits' })).toMatchObject({ ok: true })
  })
})

it('too few descriptors are an error of the calls that need one, and of no later call', async () => {
  open()
  const script = await bundleModule('test/support/call-with-few-descriptors.ts')
  // ulimit is of the shell that becomes node.
  const said = execFileSync('bash', [
    '-c',
    'ulimit -n "$1"; exec "$2" "$3" "$4"',
    '-',
    '128',
    process.execPath,
    script,
    base,
  ])
  const { codes, after, drafts, openAfter } = JSON.parse(String(said))
  expect(codes).toContain('OUT_OF_RESOURCES')
  expect(codes).not.toContain('INTERNAL')
  expect(after).toEqual([null, null])
  expect({ drafts, openAfter }).toEqual({ drafts: [], openAfter: [] })
})

it('too few descriptors are an error of the commands that need one, and of no later command', async () => {
  open()
  const script = fileURLToPath(new URL('support/run-commands-with-few-descriptors.mjs', import.meta.url))
  const words = ['ulimit -n "$1"; exec "$2" "$3" "$4"', '-', '1024', process.execPath, script, base]
  const { outcomes, later } = JSON.parse(String(execFileSync('bash', ['-c', ...words])))
  expect(outcomes[0]).toBe('ok')
  expect(outcomes[1]).toMatch(/^OUT_OF_RESOURCES: /)
  expect(outcomes.filter((each: string) => !/^(ok$|OUT_OF_RESOURCES: |RECORDS_UNAVAILABLE: )/.test(each))).toEqual([])
  expect(later).toEqual(later.map(() => 'ok'))
})
