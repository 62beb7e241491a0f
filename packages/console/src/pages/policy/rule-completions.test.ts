import { describe, expect, it } from 'vitest'
import { completionsAt } from './rule-completions.ts'

const TOOLS = [
  { name: 'mcp/mail.send', arguments: ['recipients', 'subject', 'body'] },
  { name: 'mcp/mail.search', arguments: ['query'] },
  { name: 'core/fs.readText', arguments: ['path'] },
]

/** What is offered at the `|` of a text. */
function offered(marked: string): readonly string[] {
  const at = marked.indexOf('|')
  return completionsAt(marked.replace('|', ''), at, TOOLS).map(({ label }) => label)
}

describe('completions of rules', () => {
  it('are tools after a verb, those that begin so first', () => {
    expect(offered('- { allow: mcp/mail.s|')).toEqual(['mcp/mail.send', 'mcp/mail.search'])
    expect(offered('- deny: "read|')).toEqual(['core/fs.readText'])
    expect(offered('- allow: mcp/mail.send|')).toEqual([])
    expect(offered('- { reason: allow|')).toEqual([])
  })

  it('are arguments of the tool in where, without those that stand there', () => {
    expect(offered('- { allow: mcp/mail.send, where: { |')).toEqual(['recipients', 'subject', 'body'])
    expect(offered('- { allow: mcp/mail.send, where: { recipients: "x", s|')).toEqual(['subject'])
    expect(offered('- allow: mcp/mail.send\n  where:\n    bo|')).toEqual(['body'])
    expect(offered('- { allow: mcp/mail.send, where: { body: x }, |')).toEqual([])
    expect(offered('- { allow: unknown, where: { |')).toEqual([])
    expect(offered('- { allow: mcp/mail.send }\n- { allow: core/fs.readText, where: { |')).toEqual(['path'])
  })

  it('replace what was typed', () => {
    const text = '- { allow: mcp/mail.send, where: { rec'
    const [first] = completionsAt(text, text.length, TOOLS)
    expect(first?.edit).toEqual({ from: text.length - 3, to: text.length, text: 'recipients: ', select: [47, 47] })
  })
})
