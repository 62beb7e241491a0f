import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from './load-config.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tool-hub-config-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
  await writeFile(path.join(folder, name), text)
}

async function load(plugins: unknown): Promise<readonly { name: string }[] | undefined> {
  await write('project/tool-hub.yaml', `version: 1\nplugins: ${JSON.stringify(plugins)}\n`)
  return (await loadConfig({ cwd: path.join(folder, 'project') })).options.plugins
}

const FACTORY = 'export default async (options) => ({ name: "made", options })'

describe('the plugins of a config', () => {
  it('are imported in order, relative to the config', async () => {
    await write('project/one.mjs', 'export default { name: "one" }')
    await write('shared/two.mjs', FACTORY)
    expect(await load(['./one.mjs', ['../shared/two.mjs', { project: 'OPS' }], '../shared/two.mjs'])).toEqual([
      { name: 'one' },
      { name: 'made', options: { project: 'OPS' } },
      { name: 'made', options: {} },
    ])
  })

  it.each([
    ['main', { main: './index.mjs' }],
    ['an export for all', { exports: './index.mjs' }],
    ['an export for import only', { exports: { '.': { types: './index.d.ts', import: './index.mjs' } } }],
    ['nested conditions', { exports: { import: { node: { default: './index.mjs' } } } }],
  ])('may be packages with %s', async (_, manifest) => {
    await write(
      'node_modules/@acme/tool-hub-jira/package.json',
      JSON.stringify({ name: '@acme/tool-hub-jira', ...manifest }),
    )
    await write('node_modules/@acme/tool-hub-jira/index.mjs', 'export default { name: "jira" }')
    expect(await load(['@acme/tool-hub-jira'])).toEqual([{ name: 'jira' }])
  })

  it('may be a part of a package', async () => {
    await write(
      'node_modules/jira/package.json',
      JSON.stringify({ exports: { '.': './no.mjs', './plugin': { import: './p.mjs' } } }),
    )
    await write('node_modules/jira/p.mjs', 'export default { name: "jira" }')
    expect(await load(['jira/plugin'])).toEqual([{ name: 'jira' }])
    await expect(load(['jira/other'])).rejects.toThrow('plugin jira/other does not load')
  })

  it.each([
    ['throws when imported', './x.mjs', 'throw new Error("no luck")', 'no luck'],
    ['has broken syntax', './x.mjs', 'export default {', ''],
    ['throws a text', './x.mjs', 'throw "nothing more"', 'nothing more'],
    [
      'throws when made',
      ['./x.mjs', { a: 1 }],
      'export default () => { throw new Error("a must be a text") }',
      'a must be a text',
    ],
    [
      'has no default export',
      './x.mjs',
      'export const name = "x"',
      'its default export is neither a plugin with a name nor a tool.',
    ],
    [
      'has no name',
      './x.mjs',
      'export default { tools: [] }',
      'its default export is neither a plugin with a name nor a tool.',
    ],
    [
      'returns nothing',
      './x.mjs',
      'export default () => {}',
      'its default export is neither a plugin with a name nor a tool.',
    ],
    ['takes no options', ['./x.mjs', { a: 1 }], 'export default { name: "x" }', 'it takes no options.'],
    ['is not there', './y.mjs', '', 'the file does not exist'],
    ['is not installed', '@acme/nowhere', '', 'it is not installed.'],
  ])('are named with their line when one %s', async (_, plugin, text, why) => {
    await write('project/x.mjs', text)
    const name = [plugin].flat()[0]
    await expect(load([plugin])).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        new RegExp(`^tool-hub.yaml:2:11 plugins\\[0\\]: plugin ${name} does not load: [^]*${why}`),
      ),
    })
  })

  it('are all named when several do not load', async () => {
    await write('project/x.mjs', 'throw new Error("no luck")')
    await expect(load(['./x.mjs', './y.mjs'])).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        /2 problems:[\s\S]*x\.mjs does not load: no luck[\s\S]*y\.mjs does not load: the file does not exist/,
      ),
    })
  })

  it('do not run where nobody wants them to, nor do the tools of the folder', async () => {
    await write('project/x.mjs', 'globalThis.pluginRan = true; export default { name: "x" }')
    await write('project/.tool-hub/tools/y.mjs', 'globalThis.pluginRan = true')
    await write('project/tool-hub.yaml', 'plugins: [./x.mjs, not-installed]\nmcpServers: { a: { command: x } }\n')
    const { options } = await loadConfig({ cwd: path.join(folder, 'project'), plugins: false })
    expect(options).toMatchObject({ mcpServers: { a: { command: 'x' } } })
    expect([options.plugins, options.sources]).toEqual([undefined, undefined])
    expect(globalThis).not.toHaveProperty('pluginRan')
  })

  it('do not run while the config has a mistake', async () => {
    await write('project/x.mjs', 'globalThis.pluginRan = true; export default { name: "x" }')
    await write('project/tool-hub.yaml', 'plugins: [./x.mjs]\npolicy: [{ alow: x }]\n')
    await expect(loadConfig({ cwd: path.join(folder, 'project') })).rejects.toThrow('Did you mean allow')
    expect(globalThis).not.toHaveProperty('pluginRan')
  })
})
