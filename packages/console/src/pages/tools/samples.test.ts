import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { exampleInput, sampleInput, writeClient, writeCurl } from './samples.ts'

it('writes a body for a shell that comes through as it is, whatever is in it', () => {
  const input = { text: `it's $HOME \`id\` "quoted" \\ end` }
  const command = writeCurl('http://h', "a/b'c", input).replace(/^curl/, "printf '%s\\0'")
  const words = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\0')
  expect(words[0]).toBe("http://h/v1/tools/a%2Fb'c/call")
  expect(JSON.parse(words[words.indexOf('-d') + 1] ?? '')).toEqual({ input })
})

it('writes code that has the tool and its input as they are', () => {
  expect(writeClient('http://h', 'a.b', { n: 1 })).toContain('client.call("a.b", {\n  "n": 1\n})')
})

it('begins with the examples of a schema, and has a stand-in for what is required', () => {
  const schema = {
    type: 'object',
    required: ['path', 'count'],
    properties: {
      path: { type: 'string' },
      count: { type: 'integer', minimum: 3 },
      mode: { type: 'string', examples: ['calm', 'hasty'] },
    },
  }
  expect(exampleInput(schema)).toEqual({ mode: 'calm' })
  expect(sampleInput(schema)).toEqual({ path: '…', count: 3, mode: 'calm' })
  expect(exampleInput({ ...schema, examples: [{ path: 'a', count: 4 }] })).toEqual({ path: 'a', count: 4 })
  expect(exampleInput({})).toEqual({})
})
