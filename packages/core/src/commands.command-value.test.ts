import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { commandValue } from './commands.ts'

describe('the text of a command', () => {
  it('is the line itself', () => {
    expect(commandValue({ command: 'ls  "a b" | wc\n' })).toBe('ls  "a b" | wc\n')
  })

  it('is the words, quoted where bash would need it', () => {
    expect(commandValue({ argv: ['git', 'log', '--format=%H', 'src/a.ts'] })).toBe('git log --format=%H src/a.ts')
    expect(commandValue({ argv: ['echo', 'a b', "it's", '', '$HOME', '~'] })).toBe(
      `echo 'a b' 'it'\\''s' '' '$HOME' '~'`,
    )
  })

  it('means the program of that name, whatever the first word is', () => {
    expect(commandValue({ argv: ['A=b', 'A=b'] })).toBe(`'A=b' A=b`)
    expect(commandValue({ argv: ['if', 'if'] })).toBe(`'if' if`)
    expect(commandValue({ argv: ['!', '['] })).toBe(`'!' '['`)
  })

  it('is read by bash as the same words', () => {
    const words = ["a'b", '"', '\\', '$(x)', '`x`', 'a\nb', '*', '{a,b}', '!!', '#', '\u202e', '-n', 'a=b', '\t', '']
    const text = commandValue({ argv: ['printf', '%s\\0', ...words] })
    const read = execFileSync('/bin/bash', ['--norc', '-c', text], { encoding: 'utf8' })
    expect(read.split('\0').slice(0, -1)).toEqual(words)
  })
})
