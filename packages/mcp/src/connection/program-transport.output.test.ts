import { expect, it } from 'vitest'
import { OutputTail } from './program-transport.ts'

it('keeps all of the last bytes that a program wrote, however they came', () => {
  const tail = new OutputTail(10)
  for (const piece of ['0123', 'abcd', 'efgh', 'ij']) tail.add(Buffer.from(piece))
  expect(tail.lastLines(9, 100)).toBe('abcdefghij')
  tail.add(Buffer.from('x'.repeat(50)))
  expect(tail.lastLines(9, 100)).toBe('x'.repeat(10))
  for (let count = 0; count < 1_000; count++) tail.add(Buffer.from(String(count % 10)))
  expect(tail.lastLines(9, 100)).toBe('0123456789')
})

it('loses no byte that fits, whatever the pieces are', () => {
  for (const size of [1, 3, 7, 10, 11]) {
    const tail = new OutputTail(10)
    let written = ''
    for (let count = 0; count < 40; count++) {
      const piece = String.fromCharCode(97 + (count % 26)).repeat(size)
      written += piece
      tail.add(Buffer.from(piece))
      expect(tail.lastLines(1, 100)).toBe(written.slice(-10))
    }
  }
  const large = new OutputTail(1_000)
  for (let count = 0; count < 600; count++) large.add(Buffer.from('ab'))
  expect(large.lastLines(1, 2_000)).toBe('ab'.repeat(500))
})

it('shows the last lines, without colours', () => {
  const tail = new OutputTail(100)
  tail.add(Buffer.from('one\r\ntwo\n\u001b[31mthree\u001b[0m\n\n'))
  expect(tail.lastLines(2, 100)).toBe('two\nthree')
  expect(tail.lastLines(3, 100)).toBe('one\ntwo\nthree')
  expect(tail.lastLines(2, 4)).toBe('hree')
  tail.add(Buffer.from('\u001b[2J'))
  expect(tail.lastLines(1, 100)).toBe('\\u{1b}[2J')
})
