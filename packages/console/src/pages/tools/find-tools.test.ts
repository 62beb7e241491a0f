import { describe, expect, it } from 'vitest'
import type { ToolEntry } from '../../api/types.ts'
import { findTools } from './find-tools.ts'

const tool = (name: string, more: Partial<ToolEntry> = {}): ToolEntry => ({
  tool: name,
  name: name.replace('.', '_'),
  description: '',
  kind: 'core',
  group: name.split('.')[0] ?? '',
  capabilities: [],
  visible: true,
  parameters: {},
  ...more,
})
const tools = [
  tool('fs.write', { title: 'Write a file', capabilities: ['write:fs'] }),
  tool('fs.read', { description: 'Reads a text.', capabilities: ['read:fs'] }),
  tool('web.search', { visible: false, why: 'tools.deny has it.' }),
]
const found = (text: string, withHidden = false) =>
  findTools(tools, { text, withHidden }).flatMap((group) => group.tools.map((entry) => entry.tool))

describe('findTools', () => {
  it('finds by name, title, description and capability, in any order of words', () => {
    expect(found('fs_read')).toEqual(['fs.read'])
    expect(found('file WRITE')).toEqual(['fs.write'])
    expect(found('text')).toEqual(['fs.read'])
    expect(found('write:fs')).toEqual(['fs.write'])
  })

  it('puts first what the service finds, in its order, and adds what has the words', () => {
    const all = [...tools, tool('web.fetch', { description: 'Reads a page.' })]
    const list = findTools(all, { text: 'reads', withHidden: false, found: ['web.fetch', 'fs.write'] })
    expect(list.map(({ group, tools: members }) => [group, members.map((entry) => entry.tool)])).toEqual([
      ['web', ['web.fetch']],
      ['fs', ['fs.write', 'fs.read']],
    ])
  })

  it('shows hidden ones only when they are wanted', () => {
    expect(found('search')).toEqual([])
    expect(found('search', true)).toEqual(['web.search'])
  })

  it('groups, both in order', () => {
    expect(
      findTools(tools, { text: '', withHidden: true }).map(({ group, tools: all }) => [group, all.length]),
    ).toEqual([
      ['fs', 2],
      ['web', 1],
    ])
    expect(found('')).toEqual(['fs.read', 'fs.write'])
  })
})
