import { expect, it } from 'vitest'
import { OutputTail } from './output-tail.ts'

it('keeps all of the last bytes that a program wrote, however they came', () => {
  const tail = new OutputTail(10)
  for (const piece of ['0123', 'abcd', 'efgh', 'ij']) tail.add(Buffer.from(piece))
  expect(tail.lastLines(9, 100)).toBe('abcdefghij')
  tail.add(Buffer.from('x'.repeat(50)))
  expect(tail.lastLines(9, 100)).toBe('x'.repeat(10))
  for (let count = 0; count < 1_000; count++) tail.add(Buffer.from(String(count % 10)))
  expect(tail.lastLines(9, 100)).toBe('0123456789')
})

it('shows the last lines, without colours', () => {
  const tail = new OutputTail(100)
  tail.add(Buffer.from('one\r\ntwo\n\u001b[31mthree\u001b[0m\n\n'))
  expect(tail.lastLines(2, 100)).toBe('two\nthree')
  expect(tail.lastLines(2, 4)).toBe('hree')
})
