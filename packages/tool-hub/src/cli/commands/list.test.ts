import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'

const folder = cliFolder()
afterAll(folder.remove)

describe.concurrent('tool-hub list and show', () => {
  it('lists what an agent sees, one line a tool', async () => {
    const { stdout } = await folder.run(['list'])
    expect(stdout).toMatch(/^core\/util\.time\.now +pure +Get /m)
    expect(stdout).toMatch(/^test\/note +write:fs +Writes a note/m)
    expect(stdout).toMatch(/^test\/late /m)
  })

  it('escapes what would drive a terminal', async () => {
    const { stdout } = await folder.run(['list'])
    expect(stdout).toContain('\\u{1b}[2J')
    expect(stdout).not.toContain('\u001b')
    const { stdout: json } = await folder.run(['call', 'test/paints', '--json'])
    expect(json).not.toMatch(/[\u001b\u202e]/)
    expect(JSON.parse(json).data.text).toContain('\u202e')
  })

  it('searches, best first, and says if nothing has the words', async () => {
    const { stdout } = await folder.run(['list', '--search', 'current time', '--json'])
    const found: { name: string }[] = JSON.parse(stdout)
    expect(found[0]!.name).toBe('core/util.time.now')
    expect((await folder.run(['list', '--search', 'writes a note'])).stdout).toMatch(/^test\/note /m)
    expect((await folder.run(['list', '--search', 'xylophone'])).stderr).toContain('No tool has these words')
    expect((await folder.run(['list', '--search', ' '])).code).toBe(2)
  })

  it('says why a tool is hidden', async () => {
    const words = ['list', '--profile', 'minimal', '--group', 'util']
    expect((await folder.run([...words, '--json'])).stdout).toBe('[]\n')
    expect((await folder.run([...words, '--hidden'])).stdout).toMatch(/core\/util\.time\.now .*hidden: profile minimal/)
  })

  it('shows everything about a tool', async () => {
    const { stdout } = await folder.run(['show', 'test/note'])
    for (const part of [
      'Writes a note',
      'write:fs',
      'ask by ask test/note (tool-hub.yaml:5)',
      '"additionalProperties": false',
    ])
      expect(stdout).toContain(part)
    const json = JSON.parse((await folder.run(['show', 'core/util.json.select', '--json'])).stdout)
    expect(json).toMatchObject({ name: 'core/util.json.select', visible: true, policy: { effect: 'allow' } })
    expect(json.examples.length).toBeGreaterThanOrEqual(2)
  })

  it('shows what policy says to each capability, and never how to open destruction everywhere', async () => {
    const { stdout } = await folder.run(['show', 'core/fs.edit'])
    expect(stdout).toMatch(/^policy {8}read:fs: allow by allow read:fs/m)
    expect(stdout).toMatch(/danger:destructive: deny by .*; only for calls that delete, or overwrite what was not read/)
    expect(stdout).toContain('{ ask: danger:destructive, on: "./drafts/**" }')
    expect(stdout).not.toContain('{ allow: "danger:destructive" }')
    expect((await folder.run(['show', 'core/http.head'])).stdout).toContain('no host is named in sandbox.network')
    const json = JSON.parse((await folder.run(['show', 'core/fs.edit', '--json'])).stdout)
    expect(json.policy).toMatchObject({ effect: 'allow', capabilities: expect.any(Array) })
  })

  it('shows a tool under the name of a dialect: what it is called there, and takes', async () => {
    const own = JSON.parse((await folder.run(['show', 'core/fs.edit', '--json'])).stdout)
    const coding = JSON.parse((await folder.run(['show', 'edit', '--json'])).stdout)
    expect(Object.keys(own.input.properties)).toContain('oldText')
    expect(Object.keys(coding.input.properties)).toContain('oldString')
    expect(coding).toMatchObject({ name: 'core/fs.edit', as: { name: 'edit', kind: 'coding' } })
    const { stdout } = await folder.run(['show', 'edit'])
    expect(stdout).toMatch(/^edit {2}Edit a text file\nReplace oldString by newString/)
    expect(stdout).toMatch(/^input of edit$/m)
    expect(stdout).toMatch(/^names +core\/fs\.edit, core_fs_edit, edit \(coding\)$/m)
  })

  it('lists the names that models know', async () => {
    expect((await folder.run(['list'])).stdout).toMatch(
      /^core\/fs\.searchText +read:fs +grep search_files grep_files +/m,
    )
    const json = JSON.parse((await folder.run(['list', '--group', 'fs', '--json'])).stdout)
    expect(json).toContainEqual(
      expect.objectContaining({ name: 'core/fs.readText', dialectNames: ['read', 'read_file'] }),
    )
  })

  it('tells who may call a tool: a destructive one no script', async () => {
    expect((await folder.run(['show', 'test/wipes'])).stdout).toMatch(/^callers +direct$/m)
    expect((await folder.run(['show', 'test/echo'])).stdout).toMatch(/^callers +direct, script$/m)
  })

  it('is quiet when the reader leaves', async () => {
    const running = folder.start(['show', 'core/util.json.select'])
    running.child.stdout.destroy()
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  })
})
