import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyEdits } from './edit/apply-edits.ts'
import { assembleBytes } from './edit.ts'

it('gives the bytes of the text after its replacements', () => {
  const ascii = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(ascii, fc.nat(199), fc.nat(20), fc.string({ unit: 'grapheme' }), (file, from, length, newText) => {
      const start = from % file.length
      const oldText = file.slice(start, start + length + 1)
      fc.pre(oldText !== newText)
      const { text, replacements } = applyEdits(file, [{ oldText, newText, replaceAll: true }], { path: 'a' })
      expect(assembleBytes(file, replacements).equals(Buffer.from(text))).toBe(true)
    }),
  )
})
