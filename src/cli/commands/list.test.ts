import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../test/support/cli.ts'

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
