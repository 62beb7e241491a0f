import { chmod, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { testHub } from '../../../testing/src/tool-contract.ts'

const isRoot = process.geteuid?.() === 0
let base: string

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'workspaces-')))
  onTestFinished(() => rm(base, { recursive: true }))
})

describe.runIf(isRoot)('the workspace of a run of a hub that is root', () => {
  it("belongs to a user without rights, and so do files of tools and commands, who change each other's", async () => {
    await chmod(base, 0o755)
    const { call, run } = hubIn(join(base, 'made/below'))
    await call('core/fs.writeText', { path: 'a/by-tool.txt', text: 'tool\n' })
    const line = 'id -u; echo command >> a/by-tool.txt; echo command > a/by-command.txt'
    expect(await call('core/exec.run', { command: line })).toMatchObject({ ok: true, data: { stdout: '65534\n' } })
    await call('core/fs.readText', { path: 'a/by-command.txt' })
    const written = { path: 'a/by-command.txt', text: 'tool\n', overwrite: true }
    expect(await call('core/fs.writeText', written)).toMatchObject({ ok: true })
    expect((await call('core/exec.run', { command: 'echo again >> a/by-command.txt' })).ok).toBe(true)
    const folder = join(base, 'made/below', run, 'workspace')
    expect(await readFile(join(folder, 'a/by-tool.txt'), 'utf8')).toBe('tool\ncommand\n')
    expect(await readFile(join(folder, 'a/by-command.txt'), 'utf8')).toBe('tool\nagain\n')
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  it('belongs to that user beside the records as well, which the user cannot read', async () => {
    await chmod(base, 0o755)
    const hub = testHub({ policy: [{ allow: 'exec' }], runs: join(base, 'runs') })
    onTestFinished(() => hub.close())
    const run = 'run-beside'
    const records = join(base, 'runs', run)
    const line = `id -u; echo x > made; cat ${records}/events.jsonl ${records}/principal`
    const { data } = await hub.callDynamic('core/exec.run', { command: `${line}; true` }, { run })
    expect(data).toMatchObject({ stdout: '65534\n' })
    for (const name of await readdir(records)) {
      const { mode } = await stat(join(records, name))
      expect([name, mode & 0o077]).toEqual([name, 0])
    }
  })

  it("stays root's where that user cannot get there", async () => {
    const { call } = hubIn(join(base, 'made'))
    const { data } = await call('core/exec.run', { command: 'id -u; echo x > made' })
    expect(data).toMatchObject({ stdout: '0\n', exitCode: 0 })
  })
})

function hubIn(workspaces: string) {
  const run = 'run-workspace'
  const hub = testHub({ policy: [{ allow: 'exec' }, { allow: 'write:fs' }], sandbox: { workspaces } })
  onTestFinished(() => hub.close())
  return { run, call: (name: string, input: object) => hub.callDynamic(name, input, { run }) }
}
