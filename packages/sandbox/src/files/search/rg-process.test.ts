import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { rgPath as installedPath } from '@vscode/ripgrep'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { fileAccess } from '../access/choose-access.ts'
import { openRoots, type Roots } from '../roots.ts'
import { checkRipgrep, fileTypes, type RgRun, runRipgrep } from './rg-process.ts'
import { LinkFree } from './ripgrep-engine.ts'

const base = temporaryFolder('rg-process')
const rgPath = join(base, 'rg-double')
let folder: number

beforeAll(() => {
  mkdirSync(join(base, 'root/d'), { recursive: true })
  folder = fileAccess.openBase(join(base, 'root'))
})
afterAll(() => closeSync(folder))

/** Runs a script in the place of ripgrep; gives its end and what it wrote. */
async function run(script: string, given: Partial<RgRun> = {}, ignoreFiles: readonly string[] = []) {
  writeFileSync(rgPath, `#!/bin/sh\n${script}\n`)
  chmodSync(rgPath, 0o755)
  let output = ''
  const onData = (chunk: Buffer) => {
    output += chunk
    return true
  }
  const command = { args: (paths: readonly string[]) => paths, ignoreFiles }
  const signal = new AbortController().signal
  const before = countOpenFiles()
  try {
    const end = await runRipgrep({ rgPath, command, folder, signal, onData, ...given })
    return { ...end, output }
  } finally {
    // Pipes of a process that never began are closed a moment later.
    await expect.poll(countOpenFiles).toBeLessThanOrEqual(before)
  }
}

describe('a run of ripgrep', () => {
  it('starts in the open folder, without environment and input', async () => {
    const { output, exitCode } = await run('pwd -P; echo "$HOME|$USER"; cat')
    expect([output, exitCode]).toEqual([`${realpathSync(join(base, 'root'))}\n|\n`, 0])
  })

  it('gets each ignore file by a path of its own that nobody else can read, and none stays', async () => {
    vi.stubEnv('TMPDIR', base)
    try {
      const { output } = await run('for f in "$@"; do cat "$f"; stat -L -c " %a" "$f"; done', {}, ['one', 'two'])
      expect(output).toBe('one 600\ntwo 600\n')
    } finally {
      vi.unstubAllEnvs()
    }
    expect(readdirSync(base).toSorted()).toEqual(['rg-double', 'root'])
  })

  it.each([
    ['found something', 'exit 0', 0],
    ['found nothing', 'exit 1', 1],
    ['complained', 'exit 2', 2],
  ])('ends with its code when it %s', async (_, script, exitCode) => {
    expect(await run(script)).toEqual({ exitCode, stderr: '', complaints: 0, output: '' })
  })

  it.each([
    ['exit 3', 'ripgrep ended with code 3 before it was done.'],
    ['kill -9 $$', 'ripgrep was killed before it was done.'],
  ])('fails on %s, with what it said', async (script, message) => {
    await expect(run(`echo why >&2; ${script}`)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message,
      details: { stderr: 'why\n' },
    })
  })

  it('counts complaints, one for each line that begins as one, and keeps 4,096 characters', async () => {
    const complaints = await run(`printf 'rg: a\\nno rg: b\\nrg: c\\nrg:d\\n' >&2; exit 2`)
    expect(complaints).toMatchObject({ complaints: 2, stderr: 'rg: a\nno rg: b\nrg: c\nrg:d\n' })
    const { stderr } = await run(`printf '%05000d' 0 >&2; exit 2`)
    expect(stderr).toBe('0'.repeat(4096))
  })

  it('ends early without a failure when enough is known, and gives no more', async () => {
    const chunks: string[] = []
    const onData = (chunk: Buffer) => chunks.push(String(chunk)) < 1
    const { exitCode } = await run('while :; do echo x; done', { onData })
    expect([exitCode, chunks.length]).toEqual([null, 1])
  })

  it('fails with what failed in taking its output', async () => {
    const onData = () => {
      throw new Error('taken wrongly')
    }
    await expect(run('while :; do echo x; done', { onData })).rejects.toThrow('taken wrongly')
  })

  it('is killed when the call was stopped before', async () => {
    expect(await run('exec sleep 600', { signal: AbortSignal.abort() })).toMatchObject({ exitCode: null })
  })

  it('is missing where it cannot be started', async () => {
    const missing = { code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('it does not start (ENOENT)') }
    await expect(run('', { rgPath: join(base, 'nowhere') })).rejects.toMatchObject(missing)
    await expect(run('', { rgPath: join(base, 'nowhere') }, ['rules'])).rejects.toMatchObject(missing)
  })
})

describe('a file that ripgrep has named', () => {
  let roots: Roots
  let linkFree: LinkFree

  beforeEach(() => {
    roots = openRoots([{ path: join(base, 'root'), mode: 'read' }])
    linkFree = new LinkFree()
    return () => {
      linkFree.close()
      roots.close()
    }
  })

  it('is opened only if it is there and behind no link, folder by folder', () => {
    writeFileSync(join(base, 'root/d/f'), 'x')
    writeFileSync(join(base, 'root/top'), 'x')
    writeFileSync(join(base, 'secret'), 'x')
    symlinkSync('d', join(base, 'root/l'))
    symlinkSync('d/f', join(base, 'root/file-link'))
    const before = countOpenFiles()
    for (const path of ['d/f', 'top', 'd/f', 'd/f', 'top']) closeSync(linkFree.open(roots.locate(path))!)
    for (const path of ['d/none', 'l/f', 'file-link', 'none/f'])
      expect(linkFree.open(roots.locate(path))).toBeUndefined()
    linkFree.close()
    linkFree.close()
    expect(countOpenFiles()).toBe(before)
  })

  it('is looked for again in the folder of its own, not in the last one', () => {
    mkdirSync(join(base, 'root/e'))
    writeFileSync(join(base, 'root/e/only'), '')
    const opens = (path: string) => {
      const descriptor = linkFree.open(roots.locate(path))
      if (descriptor !== undefined) closeSync(descriptor)
      return descriptor !== undefined
    }
    expect(['e/only', 'd/only', 'e/only', 'none/only', 'e/only'].map(opens)).toEqual([true, false, true, false, true])
    const before = countOpenFiles()
    expect(opens('e/only')).toBe(true)
    expect(countOpenFiles()).toBe(before)
  })
})

it('reports the version of the ripgrep that the package installs', async () => {
  expect(await checkRipgrep()).toEqual({ isAvailable: true, detail: expect.stringMatching(/^ripgrep \d+\./) })
})

it('reports why ripgrep is missing', async () => {
  const notInstalled = async () => {
    throw new ToolError('SANDBOX_UNAVAILABLE', 'not installed')
  }
  expect(await checkRipgrep(notInstalled)).toEqual({ isAvailable: false, detail: 'not installed' })
  expect(await checkRipgrep(async () => '/nowhere/rg')).toEqual({
    isAvailable: false,
    detail: 'Searching needs ripgrep, which is missing: it does not start (ENOENT).',
  })
})

it('knows the file types of the binary, and asks it once', async () => {
  const list = execFileSync(installedPath, ['--no-config', '--type-list'], { encoding: 'utf8' })
  const types = await fileTypes(installedPath)
  expect([...types]).toEqual(
    list
      .trim()
      .split('\n')
      .map((line) => line.split(':')[0]),
  )
  expect(await fileTypes(installedPath)).toBe(types)
})
