import { describe, expect, it } from 'vitest'
import { ToolIndex } from './tool-index.ts'
import type { IndexedTool } from './tool-words.ts'

const tools: readonly IndexedTool[] = [
  tool('mcp/maps.geocodeAddress', 'Convert an address to coordinates.'),
  tool('mcp/maps.reverse_geocode', 'Convert coordinates to an address.'),
  tool('mcp/docs.createMindmap', 'Draw the outline of a page.'),
  tool('mcp/calendar.addEvent', 'Put something on a day.', {
    attendees: {
      type: 'array',
      items: { type: 'object', properties: { mail: { description: 'Electronic mailbox' } } },
    },
  }),
  tool('mcp/search.query', '使用必应搜索指定的关键词'),
  tool('notes.save', 'Save a note. Saves calculations.', {}, ['Zettelkasten']),
]

async function find(query: string, among = tools): Promise<string[]> {
  const index = await ToolIndex.of(among)
  return index.search(query).map((place) => among[place]!.tool)
}

describe('the index', () => {
  it.each([
    ['the words of a camelCase name', 'geocode an address', 'mcp/maps.geocodeAddress'],
    ['the words of a snake_case name', 'reverse geocode', 'mcp/maps.reverse_geocode'],
    ['two words for a name that has one', 'mind map', 'mcp/docs.createMindmap'],
    ['an argument within an argument', 'mailboxes', 'mcp/calendar.addEvent'],
    ['the server', 'calendar', 'mcp/calendar.addEvent'],
    ['a tag', 'zettelkasten', 'notes.save'],
    ['another form of a word', 'drawing', 'mcp/docs.createMindmap'],
    ['a misspelt word', 'calcluations', 'notes.save'],
    ['a script without spaces', '搜索', 'mcp/search.query'],
  ])('finds a tool by %s', async (_, query, expected) => {
    expect((await find(query))[0]).toBe(expected)
  })

  it('finds nothing without words, and for words that nothing has', async () => {
    expect(await find('')).toEqual([])
    expect(await find('?! …')).toEqual([])
    expect(await find('xylophone')).toEqual([])
  })

  it('counts stop words only if a query has no others', async () => {
    expect(await find('to an')).not.toEqual([])
    expect(await find('to calendar')).toEqual(['mcp/calendar.addEvent'])
  })

  it('returns the best of many in the same order as all of them', async () => {
    const many = Array.from({ length: 1_200 }, (_, place) =>
      tool(`s${place % 7}.t${place}`, Array.from({ length: place % 5 }, () => 'apple').join(' ') || 'pear'),
    )
    const index = await ToolIndex.of(many)
    const all = index.search('apple')
    expect(all).toHaveLength(960)
    expect(index.search('apple', undefined, 5)).toEqual(all.slice(0, 5))
    expect(index.search('apple', (place) => place % 2 === 1, 3)).toEqual(
      all.filter((place) => place % 2 === 1).slice(0, 3),
    )
  })

  it('survives schemas that are deep, circular or not schemas', async () => {
    const circular: Record<string, unknown> = { type: 'object' }
    circular.properties = { again: circular, odd: null, list: { anyOf: 'none', items: 3 } }
    const odd = [{ ...tool('a.b', 'x'), parameters: circular }, tool('c.d', 'y'.repeat(100_000))]
    expect(await find('again', odd)).toEqual(['a.b'])
  })
})

function tool(name: string, description: string, properties: object = {}, tags: readonly string[] = []): IndexedTool {
  return { tool: name, description, parameters: { type: 'object', properties }, tags }
}
