import { expect, it } from 'vitest'
import { commandId } from './command-id.ts'
import { commandWords } from './command-words.ts'

it('is made of two words and four digits, and of no id that is taken', () => {
  const ids = Array.from({ length: 200 }, () => commandId(() => false))
  for (const id of ids) expect(id).toMatch(/^[a-z]{3,}-[a-z]{3,}-[0-9a-f]{4}$/)
  expect(new Set(ids).size).toBeGreaterThan(190)
  const refused: string[] = []
  const id = commandId((tried) => refused.length < 3 && refused.push(tried) > 0)
  expect([refused.length, refused.includes(id)]).toEqual([3, false])
})

it('runs a line by bash without its files of settings, and words as they are', () => {
  expect(commandWords({ argv: ['ls', '-l'] })).toEqual(['ls', '-l'])
  expect(commandWords({ command: '-x; ls' })).toEqual([...['/bin/bash', '--noprofile', '--norc', '-c', '--', '-x; ls']])
})
