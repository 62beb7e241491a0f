import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  appendRules,
  countChanges,
  findLine,
  indentLines,
  isLooser,
  newLineIndent,
  rangeOfLine,
  type TextEdit,
} from './text-edits.ts'

const apply = (text: string, edit: TextEdit) => text.slice(0, edit.from) + edit.text + text.slice(edit.to)

describe('indentLines', () => {
  it('puts a step in at the cursor', () => {
    const edit = indentLines('ab', 1, 1, 'in')
    expect(apply('ab', edit)).toBe('a  b')
    expect(edit.select).toEqual([3, 3])
  })

  it('moves every selected line, and keeps them selected', () => {
    const text = 'a\n  b\nc'
    const edit = indentLines(text, 0, 5, 'in')
    expect(apply(text, edit)).toBe('  a\n    b\nc')
    expect(edit.select).toEqual([2, 9])
  })

  it('does not move a line whose beginning is where the selection ends', () => {
    expect(apply('a\nb\n', indentLines('a\nb\n', 0, 2, 'in'))).toBe('  a\nb\n')
  })

  it('moves lines out as far as they go', () => {
    const text = '    a\n b\nc'
    const edit = indentLines(text, 4, 9, 'out')
    expect(apply(text, edit)).toBe('  a\nb\nc')
    expect(edit.select).toEqual([2, 6])
    expect(apply('c', indentLines('c', 0, 0, 'out'))).toBe('c')
  })
})

describe('newLineIndent', () => {
  it('begins the new line where the one before does', () => {
    expect(newLineIndent('policy:\n  - a', 13)).toMatchObject({ text: '\n  ', select: [16, 16] })
    expect(newLineIndent('', 0).text).toBe('\n')
  })
})

describe('rangeOfLine', () => {
  it('finds a line, or the last one for a number beyond', () => {
    expect(rangeOfLine('a\nbcd\ne', 2)).toEqual([2, 5])
    expect(rangeOfLine('a\nbcd\ne', 99)).toEqual([6, 7])
    expect(rangeOfLine('', 1)).toEqual([0, 0])
  })
})

it('counts changes by what they were and become', () => {
  const changes = [
    { before: 'ask', after: 'deny' },
    { before: 'deny', after: 'allow' },
    { before: 'ask', after: 'deny' },
  ] as const
  expect(countChanges(changes)).toBe('2 ask → deny, 1 deny → allow')
  expect(changes.map(isLooser)).toEqual([false, true, false])
})

it('finds the first line that a message names', () => {
  expect(findLine('rules has 2 problems:\n  rules:3:4 policy[1]: no verb.\n  rules:5:1 x')).toBe(3)
  expect(findLine('tool-hub.yaml was changed.')).toBeUndefined()
})

describe('appendRules', () => {
  const rules = ['{ allow: "a" }', '{ ask: "b" }']
  it.each([
    ['', 'policy:\n  - { allow: "a" }\n  - { ask: "b" }\n'],
    ['policy: []\n', 'policy:\n  - { allow: "a" }\n  - { ask: "b" }\n'],
    ['policy:\n', 'policy:\n  - { allow: "a" }\n  - { ask: "b" }\n'],
    ['- { deny: x }', '- { deny: x }\n- { allow: "a" }\n- { ask: "b" }\n'],
    [
      'policy:\n    - deny: x # why\n      on: [y]\n# end\n\n',
      'policy:\n    - deny: x # why\n      on: [y]\n# end\n    - { allow: "a" }\n    - { ask: "b" }\n',
    ],
    [
      'policy:\n  # ours\n  rules: # in force\n    - { deny: x }\n  shadow: ./next.yaml\n',
      'policy:\n  # ours\n  rules: # in force\n    - { allow: "a" }\n    - { ask: "b" }\n    - { deny: x }\n  shadow: ./next.yaml\n',
    ],
    [
      'policy:\n  shadow: ./next.yaml\n  rules:\n  - { deny: x }\n',
      'policy:\n  shadow: ./next.yaml\n  rules:\n  - { allow: "a" }\n  - { ask: "b" }\n  - { deny: x }\n',
    ],
    [
      'policy:\n  rules: []\n  shadow: ./next.yaml\n',
      'policy:\n  rules:\n    - { allow: "a" }\n    - { ask: "b" }\n  shadow: ./next.yaml\n',
    ],
    [
      'policy:\n  shadow: ./next.yaml\n',
      'policy:\n  shadow: ./next.yaml\n  rules:\n    - { allow: "a" }\n    - { ask: "b" }\n',
    ],
    ['policy: [{ deny: x }, ]', 'policy: [{ deny: x }, { allow: "a" }, { ask: "b" }]\n'],
    ['policy: [\n  { deny: x } # why\n  ]', 'policy: [\n  { deny: x } # why\n , { allow: "a" }, { ask: "b" }]\n'],
  ])('adds rules to %j', (yaml, expected) => {
    const text = appendRules(yaml, rules)
    expect(text).toBe(expected)
    const read: unknown = parse(text)
    const section = Array.isArray(read) ? read : (read as { policy: unknown[] | { rules: unknown[] } }).policy
    const isMapping = !Array.isArray(section)
    const list = Array.isArray(section) ? section : section.rules
    // Below `rules:` they come first.
    const [added, before] = isMapping ? [list.slice(0, 2), list.slice(2)] : [list.slice(-2), list.slice(0, -2)]
    expect(added).toEqual([{ allow: 'a' }, { ask: 'b' }])
    expect(before.length).toBe(yaml.includes('deny') ? 1 : 0)
  })
})
