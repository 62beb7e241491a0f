import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../test/support/cli.ts'
import { createToolHub } from '../create-tool-hub.ts'
import { openCatalogue } from './catalogue.ts'
import { COMMANDS } from './commands.ts'
import { generateCliDocs } from './help-text.ts'

const folder = cliFolder()
afterAll(folder.remove)

describe.concurrent('the command line', () => {
  it('shows every command without one, and exits 0', async () => {
    const { code, stdout } = await folder.run([])
    expect(code).toBe(0)
    for (const { name, summary } of COMMANDS) expect(stdout).toMatch(new RegExp(`${name} +${summary}`))
  })

  it('takes help as a word', async () => {
    const [asWord, asOption] = await Promise.all([folder.run(['help', 'list']), folder.run(['list', '--help'])])
    expect(asWord).toEqual(asOption)
    expect(asWord.stdout).toMatch(/^Usage: tool-hub list/)
  })

  it('prints its version', async () => {
    expect((await folder.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it.each([
    [['lsit'], 'Did you mean list?'],
    [['help', 'polcy'], 'Did you mean policy?'],
    [['constructor'], "Unknown command 'constructor'"],
    [['runs', 'shwo'], 'Did you mean show?'],
    [['policy', 'chek'], 'Did you mean check?'],
    [['list', '--hiden'], 'Did you mean --hidden?'],
    [['show', 'core/util.time.nwo'], 'Did you mean core/util.time.now'],
    [['list', '--profile', 'minimum'], 'Did you mean minimal?'],
    [['list', '--group', 'utl'], 'Did you mean group:util'],
  ])('names the nearest for %j and exits 2', async (words, hint) => {
    const { code, stdout, stderr } = await folder.run(words)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(hint)
  })

  it('has help with examples, --json and --debug for every command, as Markdown too', async () => {
    const docs = await generateCliDocs()
    for (const { name } of COMMANDS) expect(docs).toContain(`## tool-hub ${name}\n`)
    const leaves = docs.split('\n## ').filter((part) => !part.includes('[command]'))
    for (const leaf of leaves.slice(1)) expect(leaf).toMatch(/--json [\s\S]*--debug /)
    expect(docs).not.toContain('\u001b')
  })
})

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

  it('lists the same as a hub does, without building one', async () => {
    const options = { visibility: { deny: ['core/util.time.now'] }, runs: false } as const
    const catalogue = await openCatalogue(options)
    expect(catalogue.list()).toEqual(createToolHub(options).list({ hidden: true }))
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

  it('is quiet when the reader leaves', async () => {
    const running = folder.start(['show', 'core/util.json.select'])
    running.child.stdout.destroy()
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('tool-hub init, new and doctor', () => {
  const empty = cliFolder(undefined)
  afterAll(empty.remove)

  it('writes a config that works, once', async () => {
    const first = cliFolder('')
    writeFileSync(join(first.path, 'tool-hub.yaml'), 'mine: true')
    expect((await first.run(['init'])).code).toBe(2)
    expect(readFileSync(join(first.path, 'tool-hub.yaml'), 'utf8')).toBe('mine: true')
    expect((await first.run(['init', '--force'])).code).toBe(0)
    expect((await first.run(['policy', 'check'])).code).toBe(0)
    first.remove()
  })

  it('writes a tool and its test, and never over what is there', async () => {
    const { code, stdout } = await empty.run(['new', 'tool', 'notes.saveAll'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'notes-save-all.ts\nnotes-save-all.test.ts\n' })
    const text = readFileSync(join(empty.path, 'notes-save-all.ts'), 'utf8')
    expect(text).toContain("import { defineTool, ToolError } from 'tool-hub'")
    expect(text).toContain("name: 'notes.saveAll'")
    expect((await empty.run(['new', 'tool', 'notes.saveAll'])).code).toBe(2)
    expect((await empty.run(['new', 'tool', '../../evil'])).code).toBe(2)
    expect(existsSync(join(empty.path, '..', 'evil.ts'))).toBe(false)
  })

  it('examines the machine and the config', async () => {
    const { code, stdout } = await folder.run(['doctor', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).map(({ what }: { what: string }) => what)).toEqual([
      'node',
      'files',
      'config',
      'policy',
      'records',
      'disk',
    ])
  })

  it('exits 1 when something is broken, with the fix', async () => {
    const file = empty.write('broken.yaml', 'polcy: []\n')
    const { code, stdout } = await empty.run(['doctor', '--config', file])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^broken +config .*polcy[\s\S]*fix: /m)
  })
})

describe('tool-hub demo', () => {
  it('runs by itself: allowed, asked and denied calls, then a verified audit', async () => {
    const { code, stdout, stderr } = await folder.run(['demo'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const part of [
      'allowed   demo/web.fetch',
      'approved  demo/files.writeReport',
      'denied    demo/web.fetch',
      'intact',
    ])
      expect(stdout).toContain(part)
  })

  it('leaves a report and a record behind', async () => {
    const outcome = JSON.parse((await folder.run(['demo', '--json'])).stdout)
    expect(readFileSync(join(outcome.folder, 'workspace/reports/open-orders.md'), 'utf8')).toContain('Together 63 EUR.')
    const config = join(outcome.folder, 'tool-hub.yaml')
    expect((await folder.run(['audit', 'verify', '--config', config])).code).toBe(0)
  })
})
