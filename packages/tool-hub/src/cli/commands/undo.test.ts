import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'

const CONFIG = `version: 1
plugins: [./plugin.mjs]
sandbox: { root: . }
`

/** A folder of its own for each test, because all run concurrently. */
function open(test: { onTestFinished(tidy: () => void): void }) {
  const folder = cliFolder(CONFIG)
  test.onTestFinished(folder.remove)
  const write = async (path: string, text: string, run: string): Promise<string> => {
    const { stdout } = await folder.run(['call', 'test/note', JSON.stringify({ path, text }), '--run', run, '--json'])
    return JSON.parse(stdout).callId
  }
  return { ...folder, write, exists: (path: string) => existsSync(join(folder.path, path)) }
}

describe.concurrent('tool-hub undo', () => {
  it('says what it would do, does it, and says how to take that back', async (test) => {
    const folder = open(test)
    const { write, exists } = folder
    const callId = await write('notes/a.txt', 'hello', 'first')
    const rehearsed = await folder.run(['undo', '--dry-run'])
    const planned = 'would remove     notes/a.txt\nwould remove     notes\n'
    expect(rehearsed).toMatchObject({ code: 0, stdout: planned })
    expect(rehearsed.stderr).toContain(`Would undo test/note (call ${callId}, run first):`)
    expect(rehearsed.stderr).toContain('Nothing was changed: this was a dry run.')
    expect(exists('notes/a.txt')).toBe(true)
    const undone = await folder.run(['undo'])
    expect(undone).toMatchObject({ code: 0, stdout: 'removed       notes/a.txt\nremoved       notes\n' })
    expect(exists('notes')).toBe(false)
    const [, again] = /undo --call (\S+)/.exec(undone.stderr)!
    expect(await folder.run(['undo', '--call', again!])).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder.path, 'notes/a.txt'), 'utf8')).toBe('hello')
  })

  it('exits 1 for a file that was changed since, shows the diff, and obeys --force', async (test) => {
    const folder = open(test)
    const { write, exists } = folder
    const callId = await write('a.txt', 'hello\n', 'first')
    writeFileSync(join(folder.path, 'a.txt'), 'by a person\n')
    const refused = await folder.run(['undo', '--call', callId])
    expect(refused.code).toBe(1)
    expect(refused.stdout).toMatch(/^refused {7}a\.txt {2}was changed since\n.* {4}-by a person\n/s)
    expect(refused.stderr).toContain('--force')
    expect(await folder.run(['undo', '--force'])).toMatchObject({ code: 0, stdout: 'removed       a.txt\n' })
    expect(exists('a.txt')).toBe(false)
  })

  it('undoes a run by the beginning of its id, as JSON when asked', async (test) => {
    const folder = open(test)
    const { write, exists } = folder
    await write('a.txt', 'a', 'run-one')
    await write('b.txt', 'b', 'run-one')
    await write('c.txt', 'c', 'run-two')
    const { code, stdout } = await folder.run(['undo', '--run', 'run-o', '--json'])
    expect(code).toBe(0)
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ ok: true, calls: [{ run: 'run-one' }, { run: 'run-one' }] })
    expect(report.changes.map(({ action }: { action: string }) => action)).toEqual(['removed', 'removed'])
    expect(['a.txt', 'b.txt', 'c.txt'].map(exists)).toEqual([false, false, true])
    expect(await folder.run(['audit', 'verify'])).toMatchObject({ code: 0 })
  })

  it('has nothing to do where nothing was changed, or all of it was taken back', async (test) => {
    const folder = open(test)
    const nothing = await folder.run(['undo'])
    expect(nothing).toMatchObject({ code: 0, stdout: '' })
    expect(nothing.stderr).toContain('Nothing to undo: no call on record changed a file, or all were undone already.')
    await folder.run(['call', 'core/util.time.now', '--run', 'idle'])
    const idle = await folder.run(['undo', '--run', 'idle'])
    expect(idle).toMatchObject({ code: 0, stderr: 'Nothing to undo: the run idle changed no file.\n' })
  })

  it('exits 2 for what excludes each other, and for a call or a run that is not there', async (test) => {
    const folder = open(test)
    expect((await folder.run(['undo', '--call', 'c1', '--run', 'r'])).code).toBe(2)
    expect((await folder.run(['undo', '--run', 'none'])).code).toBe(2)
    const { code, stderr } = await folder.run(['undo', '--call', 'c-none'])
    expect(code).toBe(2)
    expect(stderr).toContain('No call "c-none" that changed files is on record.')
  })

  it('asks for the root where the change was made with --root, and not for a --force that would not help', async (test) => {
    const folder = open(test)
    writeFileSync(join(folder.path, 'tool-hub.yaml'), 'plugins: [./plugin.mjs]\n')
    const note = JSON.stringify({ path: 'a.txt', text: 'a' })
    await folder.run(['call', 'test/note', note, '--root', '.'])
    const refused = await folder.run(['undo'])
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringMatching(/^refused {7}a\.txt .*outside/) })
    expect(refused.stderr).toMatch(/Give the root it was made in: .* undo --root \.\n/)
    expect(refused.stderr).not.toContain('--force')
    const undone = await folder.run(['undo', '--root', '.'])
    expect(undone).toMatchObject({ code: 0, stdout: 'removed       a.txt\n' })
    const [, again] = /undo --root \. --call (\S+)/.exec(undone.stderr)!
    expect(await folder.run(['undo', '--root', '.', '--call', again!])).toMatchObject({ code: 0 })
    expect(folder.exists('a.txt')).toBe(true)
  })
})
