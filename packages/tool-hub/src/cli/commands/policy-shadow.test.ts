import { afterAll, expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'

const CONFIG = `plugins: [./plugin.mjs]
policy:
  rules:
    - { allow: test/echo }
  shadow: ./next.yaml
`
const folder = cliFolder(CONFIG)
const empty = cliFolder()
const broken = cliFolder(CONFIG)
afterAll(() => {
  for (const each of [folder, empty, broken]) each.remove()
})

it('shows the differences of recorded calls, by tool and decisions, with examples', async () => {
  folder.write('next.yaml', '- { deny: test/echo }\n')
  const call = await folder.run(['call', 'test/echo', '{"a":1}', '--run', 'one'])
  expect(call.code).toBe(0)
  const [text, json, later, run, verified] = await Promise.all([
    folder.run(['policy', 'shadow']),
    folder.run(['policy', 'shadow', '--json']),
    folder.run(['policy', 'shadow', '--since', '1h']),
    folder.run(['runs', 'show', 'one']),
    folder.run(['audit', 'verify']),
  ])
  expect(text).toMatchObject({ code: 0, stderr: 'The shadow policy decided 1 of 1 call otherwise.\n' })
  expect(text.stdout).toMatch(
    /^allow -> deny {2}test\/echo {2}1 call\n {2}one c\S+\n {4}in force: allow test\/echo \(tool-hub\.yaml:4\)\n {4}shadow: {3}deny test\/echo \(next\.yaml:1\)\n$/,
  )
  expect(JSON.parse(json.stdout)).toMatchObject({
    runs: 1,
    calls: 1,
    differing: 1,
    differences: [{ tool: 'test/echo', effect: 'allow', shadowEffect: 'deny', count: 1, examples: [{ run: 'one' }] }],
    unreadable: [],
  })
  expect(later.stderr).toBe('The shadow policy decided 1 of 1 call of the last 1h otherwise.\n')
  expect(verified.code).toBe(0)
  expect(run.stdout).toContain('would be deny by deny test/echo (next.yaml:1)')
})

it('says that there are no runs, and what is wrong with --since', async () => {
  expect(await empty.run(['policy', 'shadow'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^There are no runs in /),
  })
  expect((await empty.run(['policy', 'shadow', '--since', 'soon'])).code).toBe(2)
})

it('a shadow file that is missing or broken ends every command with its place', async () => {
  const missing = await broken.run(['call', 'test/echo', '{}'])
  expect(missing).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('tool-hub.yaml:5:11 policy.shadow: next.yaml'),
  })
  broken.write('next.yaml', 'policy:\n  - { deny: "*", on: "[" }\n')
  const invalid = await broken.run(['call', 'test/echo', '{}'])
  expect(invalid).toMatchObject({ code: 2, stderr: expect.stringContaining('(next.yaml:2)') })
  broken.write('next.yaml', '- { deny: test/ecoh }\n')
  expect((await broken.run(['policy', 'check'])).stdout).toMatch(/next\.yaml:1.*test\/ecoh/)
})
