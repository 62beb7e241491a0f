import { expect, it } from 'vitest'
import { ToolError } from './errors.ts'
import { throwIfAborted } from './failures.ts'

it('throws the reason of the pipeline, or that the call was stopped', () => {
  expect(() => throwIfAborted(new AbortController().signal)).not.toThrow()
  const reason = new ToolError('TIMEOUT', 'The call is over.')
  expect(() => throwIfAborted(AbortSignal.abort(reason))).toThrow(reason)
  for (const why of ['words', new Error('x')]) {
    expect(() => throwIfAborted(AbortSignal.abort(why))).toThrow(
      expect.objectContaining({ code: 'ABORTED', message: 'The call was stopped.', cause: why }),
    )
  }
})
