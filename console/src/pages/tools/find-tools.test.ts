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
