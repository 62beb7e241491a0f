import { ToolError } from '../tool-hub.mjs'
import { fixture, wait } from './fixture.mjs'
import { RED_PIXEL, SILENCE } from './samples.mjs'

const image = { type: 'image', data: RED_PIXEL, mediaType: 'image/png' }

/** Tools that return content of every kind, fail, and report progress. */
export const contentTools = [
  fixture('test_simple_text', 'Returns a text.', () => 'This is a simple text response for testing.'),
  fixture('test_image_content', 'Returns an image.', () => [image]),
  fixture('test_audio_content', 'Returns a sound.', () => [{ type: 'audio', data: SILENCE, mediaType: 'audio/wav' }]),
  fixture('test_embedded_resource', 'Returns a document.', () => [
    {
      type: 'resource',
      uri: 'test://embedded-resource',
      mediaType: 'text/plain',
      text: 'This is an embedded resource content.',
    },
  ]),
  fixture('test_multiple_content_types', 'Returns a text, an image and a document.', () => [
    { type: 'text', text: 'Multiple content types test:' },
    image,
    {
      type: 'resource',
      uri: 'test://mixed-content-resource',
      mediaType: 'application/json',
      text: JSON.stringify({ test: 'data', value: 123 }),
    },
  ]),
  fixture('test_error_handling', 'Always fails.', () => {
    throw new ToolError('EXEC_FAILED', 'This tool intentionally returns an error for testing.')
  }),
  fixture('test_tool_with_progress', 'Says three times how far it is.', async (_, ctx) => {
    ctx.progress('0 of 100')
    await wait(50, ctx)
    ctx.progress('50 of 100')
    await wait(50, ctx)
    ctx.progress('100 of 100')
    return 'Done.'
  }),
]
