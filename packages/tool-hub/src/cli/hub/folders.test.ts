import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder, jsonLines } from '../../../../../test/support/cli.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { currentRoot } from './folders.ts'

describe('the root when nobody names one', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'home/project'), { recursive: true })
  const home = join(folder, 'home')

  it('is the current folder, whatever links lead to it', () => {
    symlinkSync(join(home, 'project'), join(folder, 'link'))
    expect(currentRoot(join(folder, 'link'), home)).toEqual({ root: join(home, 'project') })
  })

  it('is never /, the home folder, a folder above it, one of another user, or one that everybody writes to', () => {
    const shared = join(folder, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    symlinkSync(home, join(folder, 'to-home'))
    expect(currentRoot('/', home)).toEqual({ why: 'the current folder is /' })
    expect(currentRoot(home, join(folder, 'to-home'))).toEqual({ why: 'the current folder is your home folder' })
    expect(currentRoot(folder, home)).toEqual({ why: 'your home folder is below the current folder' })
    expect(currentRoot(shared, home)).toEqual({ why: 'every user can write to the current folder' })
    // Of root's, or for root of the user that the process is for the moment.
    const asOther = process.geteuid
    try {
      process.geteuid = () => 4_000_000
      expect(currentRoot(join(home, 'project'), home)).toEqual({ why: 'the current folder belongs to another user' })
    } finally {
      process.geteuid = asOther
    }
  })
})

describe.concurrent('commands of a person in a folder', () => {
  const folder = cliFolder(null, '/nowhere')
  mkdirSync(join(folder.path, 'notes'))
  writeFileSync(join(folder.path, 'notes/a.md'), 'hi there\n')
  afterAll(folder.remove)

  it('work on that folder: call, batch, policy explain', async () => {
    expect(await folder.run(['call', 'read', '--path', 'notes/a.md'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('hi there'),
      stderr: '',
    })
    expect((await folder.run(['call', 'ls'])).stdout).toContain('notes/')
    expect((await folder.run(['call', 'grep', '--pattern', 'hi'])).stdout).toContain('notes/a.md:1:hi there')
    const line = JSON.stringify({ id: 1, tool: 'core/fs.readText', input: { path: 'notes/a.md' } })
    expect(jsonLines((await folder.run(['batch', '-'], line)).stdout)[0]).toMatchObject({ ok: true })
    const explained = await folder.run(['policy', 'explain', 'core/fs.readText', '--path', 'notes/a.md', '--json'])
    expect(explained.stdout).toContain(join(folder.path, 'notes/a.md'))
    expect((await folder.run(['policy', 'show'])).stdout).toContain(`root: ${folder.path}`)
  })

  it('run commands there: exec', async () => {
    const config = folder.write('exec.yaml', 'policy: [{ allow: exec }]\n')
    const { stdout, code, stderr } = await folder.run(['exec', '--config', config, '--', 'cat', 'notes/a.md'])
    expect({ stdout, code }, stderr).toEqual({ stdout: 'hi there\n', code: 0 })
  })

  it('serve it over MCP', async () => {
    const serving = folder.start(['mcp'])
    const say = (message: object) => serving.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const clientInfo = { name: 'test', version: '1' }
    say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
    await serving.says('serverInfo')
    say({ method: 'notifications/initialized' })
    say({ id: 2, method: 'tools/call', params: { name: 'core_fs_readText', arguments: { path: 'notes/a.md' } } })
    await serving.says('hi there')
    serving.child.stdin.end()
    expect((await serving.ended).stderr).toBe('')
  })

  it('take back there what a call changed, and what was changed in the workspace of a run', async () => {
    const path = join(folder.path, 'made.md')
    await folder.run(['call', 'core/fs.writeText', '--path', 'made.md', '--text', 'x', '--run', 'making'])
    expect(readFileSync(path, 'utf8')).toBe('x')
    expect(await folder.run(['undo', '--run', 'making'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('made.md'),
    })
    const rooms = folder.write('rooms.yaml', 'sandbox: { workspaces: ./rooms }\n')
    await folder.run(['call', 'core/fs.writeText', '--path', 'b.md', '--text', 'x', '--run', 'own', '--config', rooms])
    expect(readFileSync(join(folder.path, 'rooms/own/workspace/b.md'), 'utf8')).toBe('x')
    expect(await folder.run(['undo', '--run', 'own', '--config', rooms])).toMatchObject({ code: 0 })
  })

  it('keep to the folders that the config names', async () => {
    const config = folder.write('roots.yaml', 'sandbox: { roots: [{ path: ., mode: read }] }\n')
    const words = ['call', 'core/fs.writeText', '--text', 'x', '--config', config, '--path']
    expect(await folder.run([...words, join(folder.path, 'no.md')])).toMatchObject({ code: 3 })
    expect((await folder.run([...words, 'own.md', '--run', 'roots'])).stderr).toMatch(
      /^files: runs\/roots\/workspace\n/,
    )
  })

  it('say where they looked for what is not there', async () => {
    const missing = await folder.run(['call', 'read', '--path', 'nothing.md'])
    expect(missing.stderr).toContain(`"nothing.md" does not exist in ${folder.path}.`)
    expect((await folder.run(['call', 'grep', '--pattern', 'nowhere'])).stdout).toBe(
      `No matches found in ${folder.path}.\n`,
    )
  })
})

describe('commands of a person in the home folder', () => {
  const home = cliFolder(null)
  home.write('a.md', 'hi\n')
  afterAll(home.remove)

  it('say that tools do not see it, and when it has what was not found', async () => {
    const missing = await home.run(['call', 'read', '--path', 'a.md', '--run', 'one'])
    expect(missing.stderr).toContain(`"a.md" does not exist in ${home.path}/runs/one/workspace.`)
    expect(missing.stderr).toContain(`${home.path}/a.md exists, but tools do not see it.`)
    const listed = await home.run(['call', 'ls', '--run', 'two'])
    expect(listed.stdout).toBe(`The folder ${home.path}/runs/two/workspace is empty.\n`)
    expect(listed.stderr).toContain(`notice: Tools see only ${home.path}/runs/two/workspace, not ${home.path}.`)
    const run = await home.run(['exec', '--yes', '--', 'true'])
    expect(run.stderr).toContain('files: a private folder of the run, because the current folder is your home folder')
  })
})
