import { expect, it } from 'vitest'
import { cleanTexts } from './clean-definition.ts'

const cleaned = (description: string, title?: string) =>
  cleanTexts({ tool: 'x', title, description, input: {}, output: undefined, annotations: {} } as never)

it('a long description is cut, and no character in two', () => {
  const { description } = cleaned(`${'x'.repeat(3_999)}😀 and more`)
  expect(description.slice(0, 3_999)).toBe('x'.repeat(3_999))
  expect(description.slice(3_999)).not.toMatch(/[\ud800-\udfff]/)
  expect(cleaned('x'.repeat(4_000)).description).toBe('x'.repeat(4_000))
})

it('a long title is cut', () => {
  expect(cleaned('', 'x'.repeat(201)).title).toBe('x'.repeat(200))
  expect(cleaned('').title).toBeUndefined()
})
