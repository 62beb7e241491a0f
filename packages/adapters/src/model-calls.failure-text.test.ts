import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Failure } from '../../core/src/call.ts'
import { defineTool } from '../../core/src/tool.ts'
import { testHub } from '../../testing/src/tool-contract.ts'
import { failureText } from './model-calls.ts'

const build = defineTool({
  name: 'code.build',
  description: 'Fails.',
  input: z.strictObject({ output: z.string().optional() }),
  output: z.string(),
  execute: ({ output }) => {
    throw new ToolError('EXEC_FAILED', 'make ended with 2.', { hint: 'Read it.', data: output })
  },
})

describe('failureText', () => {
  it('says what is wrong, what to do, and first of all that it failed when there is output', async () => {
    const hub = testHub({ tools: [build] })
    const failed = async (input: { output?: string }) => failureText((await hub.call(build, input)) as Failure)
    expect(await failed({})).toBe('EXEC_FAILED: make ended with 2. Read it.')
    expect(await failed({ output: '3 errors' })).toBe('EXEC_FAILED: make ended with 2. Read it.\n3 errors')
    await hub.close()
  })
})
