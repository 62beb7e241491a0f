import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyEdits } from './edit/apply-edits.ts'
import { assemble } from './edit.ts'

it('gives the bytes of the text after its replacements, in pieces if they are many', async () => {
  const ascii = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 200 })
  await fc.assert(
    fc.asyncProperty(
      ascii,
      fc.nat(199),
      fc.nat(20),
      fc.string({ unit: 'grapheme' }),
      async (file, from, length, newText) => {
        const start = from % file.length
        const oldText = file.slice(start, start + length + 1)
        fc.pre(oldText !== newText)
        const { text, replacements } = applyEdits(file, [{ oldText, newText, replaceAll: true }], { path: 'a' })
        for (const pieceBytes of [1, 7, 64, 10_000]) {
          const content = assemble(file, replacements, pieceBytes)
          const pieces: Buffer[] = []
          if (content instanceof Uint8Array) pieces.push(Buffer.from(content))
          else for await (const piece of content) pieces.push(Buffer.from(piece))
          expect(pieces.every(({ length: bytes }) => bytes <= pieceBytes)).toBe(true)
          expect(Buffer.concat(pieces).equals(Buffer.from(text))).toBe(true)
        }
      },
    ),
  )
})
