import { describe, expect, it } from 'vitest'
import type { Rule } from '../../core/src/principal.ts'
import { describeRule } from './describe.ts'

const describeIt = (rule: Rule, more: { line?: number; fallback?: boolean } = {}) => {
  const { line, fallback = false } = more
  return describeRule({ rule, source: { file: 'tool-hub.yaml', ...(line && { line }) }, base: '/srv', fallback })
}

describe('a rule on one line', () => {
  it.each<[Rule, string]>([
    [{ allow: 'exec' }, 'allow exec (tool-hub.yaml)'],
    [{ ask: ' exec ' }, 'ask exec (tool-hub.yaml)'],
    [{ deny: '*', on: '~/.ssh/**' }, 'deny "*" on ~/.ssh/** (tool-hub.yaml)'],
    [{ deny: 'x', on: ['a', 'b', 'c'] }, 'deny x on a, b, c (tool-hub.yaml)'],
    [{ deny: 'x', on: ['a', 'b', 'c', 'd'] }, 'deny x on a, b, c and 1 more (tool-hub.yaml)'],
    [{ deny: 'x', except: ['a', 'b'] }, 'deny x except a, b (tool-hub.yaml)'],
    [{ deny: 'x', when: { tainted: true } }, 'deny x when tainted (tool-hub.yaml)'],
    [{ deny: 'x', when: { tainted: false } }, 'deny x when not tainted (tool-hub.yaml)'],
    [{ deny: 'x', when: { caller: 'script' } }, 'deny x when called by script (tool-hub.yaml)'],
  ])('%j is %s', (rule, text) => {
    expect(describeIt(rule)).toBe(text)
  })

  it('names the line where it was written, and that nobody wrote it', () => {
    expect(describeIt({ deny: 'x' }, { line: 12 })).toBe('deny x (tool-hub.yaml:12)')
    expect(describeIt({ deny: 'x' }, { fallback: true })).toBe('deny x by default (tool-hub.yaml)')
  })
})
