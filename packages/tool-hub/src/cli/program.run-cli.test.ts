import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder } from '../../../../test/support/cli.ts'
import { COMMANDS } from './commands.ts'
import { EXIT } from './exit.ts'
import { generateCliDocs } from './generate-cli-docs.ts'

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
    [['call', 'core/util.time.nwo'], 'Did you mean core/util.time.now'],
    [['list', '--profile', 'minimum'], 'Did you mean minimal?'],
    [['list', '--group', 'utl'], 'Did you mean group:util'],
  ])('names the nearest for %j and exits 2', async (words, hint) => {
    const { code, stdout, stderr } = await folder.run(words)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(hint)
  })

  it('has help with examples, --json and --debug for every command, as Markdown too', async () => {
    const pages = await generateCliDocs()
    const docs = [...pages.values()].join('\n')
    for (const { name } of COMMANDS) expect(pages.get(`cli/${name}.md`)).toContain(`## tool-hub ${name}\n`)
    const leaves = docs.split('\n## ').filter((part) => !part.includes('[command]'))
    for (const leaf of leaves.slice(1)) expect(leaf).toMatch(/--json [\s\S]*--debug /)
    expect(docs).not.toContain('\u001b')
  })

  it.each([[['show', 'qqqqqqqqqqqq']], [['call', 'qqqqqqqqqqqq']], [['policy', 'explain', 'qqqqqqqqqqqq']]])(
    'says which command lists the names when nothing is near: %j',
    async (words) => {
      const { code, stdout, stderr } = await folder.run(words)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/Unknown tool "qqqqqqqqqqqq"\.\n {2}fix: .*tool-hub list/)
    },
  )

  it('tells every exit code there is', async () => {
    const { stdout } = await folder.run(['--help'])
    for (const code of Object.values(EXIT)) expect(stdout).toMatch(new RegExp(`^ {2}${code} +\\w`, 'm'))
  })
})
