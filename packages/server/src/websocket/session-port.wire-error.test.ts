import { once } from 'node:events'
import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { toWireError } from './session-port.ts'

it('an error of ours is sent with its hint and whether to try again', () => {
  const error = new ToolError('RATE_LIMITED', 'Too many.', { hint: 'Wait.', details: { secret: 1 }, retryable: true })
  expect(toWireError(error)).toEqual({ code: 'RATE_LIMITED', message: 'Too many.', hint: 'Wait.', retryable: true })
  expect(toWireError(new ToolError('NOT_FOUND', 'None.', { hint: 'Look.' }))).toMatchObject({ retryable: false })
})

it.each<[string, unknown, RegExp]>([
  ['an error with its stack', new Error('the disk is full'), /failed: Error: the disk is full\n +at /],
  ['an error without one', Object.assign(new Error('no place'), { stack: undefined }), /failed: no place$/],
  ['a text', 'gone', /failed: gone$/],
])('a defect is hidden from the client, and the owner is warned of %s', async (_, thrown, warning) => {
  const warned = once(process, 'warning')
  expect(toWireError(thrown)).toEqual({
    code: 'INTERNAL',
    message: 'The service failed.',
    hint: 'The owner finds the cause in its log.',
    retryable: false,
  })
  const [{ name, message }] = await warned
  expect(name).toBe('ToolHubWarning')
  expect(message).toMatch(/^A message over a WebSocket failed: /)
  expect(message).toMatch(warning)
})
