import { expect, it } from 'vitest'
import { byteOrderMark } from './text.ts'

it.each([
  ['efbbbf', { encoding: 'utf-8', length: 3 }],
  ['fffe61', { encoding: 'utf-16le', length: 2 }],
  ['feff00', { encoding: 'utf-16be', length: 2 }],
])('knows the mark %s', (hex, mark) => {
  expect(byteOrderMark(Buffer.from(hex, 'hex'))).toEqual(mark)
})

it.each(['', 'ef', 'efbb', 'ff', 'fe', '61', 'bfbbef'])('knows no mark in "%s"', (hex) => {
  expect(byteOrderMark(Buffer.from(hex, 'hex'))).toBeUndefined()
})
