import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { describe, expect, it } from 'vitest'
import { definePlugin } from '../../../../core/src/plugin.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { openCatalogue } from './catalogue.ts'

const wipe = defineTool({
  name: 'disk.wipe',
  description: 'Removes everything.',
  input: { type: 'object' },
  capabilities: ['danger:destructive'],
  dialects: { shell: { name: 'rm' } },
  execute: () => 'gone',
})

describe('the catalogue', () => {
  it.each([
    ['the built-in tools', {}],
    ['those of plugins', { plugins: [definePlugin({ name: 'disk', tools: [wipe] })] }],
  ])('lists the same as a hub does: %s', async (_, extra) => {
    const options = { ...extra, visibility: { deny: ['core/util.time.now'] }, runs: false } as const
    const { listing, tools } = await openCatalogue(options)
    expect(listing).toEqual(createToolHub(options).list({ hidden: true }))
    expect(tools.map(({ tool }) => tool.name)).toEqual(listing.map(({ name }) => name))
  })

  it('finds a tool by each of its names, with what a hub derives from it', async () => {
    const { find } = await openCatalogue({ plugins: [definePlugin({ name: 'disk', tools: [wipe] })] })
    for (const name of ['disk.wipe', 'disk_wipe', 'rm']) expect(find(name).entry.tool).toBe(wipe)
    expect(find('rm')).toMatchObject({
      entry: { callers: ['direct'], groups: ['group:disk'] },
      dialect: { kind: 'shell' },
    })
    expect(() => find('disk.wpie')).toThrow(expect.objectContaining({ code: 'TOOL_NOT_FOUND' }))
  })

  it('closes the plugins it needed', async () => {
    let closed = 0
    const plugin = definePlugin({ name: 'disk', tools: [wipe], close: () => void closed++ })
    await openCatalogue({ plugins: [plugin] })
    expect(closed).toBe(1)
  })
})
