import { expect, it } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { hashSha256Text } from './hash-sha256-text.ts'

it('hashes the text as UTF-8', () => {
  const ctx = toolContext()
  const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(hashSha256Text.execute({ text: 'abc' }, ctx)).toEqual({ sha256, bytes: 3 })
  expect(ctx.collected).toEqual([{ type: 'tool', ref: 'call-1', summary: `sha256 ${sha256} of 3 bytes` }])
})

it('hashes nothing and characters of several bytes', () => {
  const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  expect(hashSha256Text.execute({ text: '' }, toolContext())).toEqual({ sha256, bytes: 0 })
  expect(hashSha256Text.execute({ text: 'é😀' }, toolContext())).toMatchObject({ bytes: 6 })
})
