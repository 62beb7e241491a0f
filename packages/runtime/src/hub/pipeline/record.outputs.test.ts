import type { AnyTool, HubOptions } from '@tool-hub/core'
import { defineTool, ToolError } from '@tool-hub/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { realHub } from '../../../../../test/support/real-hub.ts'

const SECRET = 'the-owners-own-secret'

/** Returns or throws a text of the caller. */
const say: AnyTool = defineTool({
  name: 'test/say',
  description: 'Says a text, for tests.',
  input: z.strictObject({ text: z.string(), fails: z.boolean().optional() }),
  execute: ({ text, fails }) => {
    if (fails) throw new ToolError('TOOL_FAILED', 'It failed.', { data: text })
    return text
  },
})

async function outputsOf(options: HubOptions, ...inputs: readonly object[]) {
  const hub = realHub({ tools: [say], ...options })
  for (const input of inputs) await hub.call('test/say', input)
  const events = await hub.record('events.jsonl')
  return { events, outputs: events.filter(({ type }) => type === 'call-output') }
}

describe('the outputs on record', () => {
  it('are those of failed calls, redacted, right before the end of the call', async () => {
    const failing = { text: `npm ERR! token ${SECRET}\nline 2`, fails: true }
    const { events, outputs } = await outputsOf({ redact: { values: [SECRET] } }, failing, { text: 'fine' })
    expect(outputs).toMatchObject([{ tool: 'test/say', text: expect.stringMatching(/^npm ERR! token .*\nline 2$/) }])
    expect(JSON.stringify(events)).not.toContain(SECRET)
    const at = events.indexOf(outputs[0]!)
    expect(events[at + 1]).toMatchObject({ type: 'call-ended', callId: outputs[0]!.callId, status: 'error' })
  })

  it('are those of all calls, or of none, as the owner wants', async () => {
    const inputs = [{ text: 'bad', fails: true }, { text: 'fine' }]
    const all = await outputsOf({ records: { outputs: 'all' } }, ...inputs)
    expect(all.outputs.map(({ text }) => text)).toEqual(['bad', 'fine'])
    expect((await outputsOf({ records: { outputs: 'none' } }, ...inputs)).outputs).toEqual([])
  })

  it('keep the first and the last 4 KB, whatever the characters are', async () => {
    for (const filler of ['x', '\u0007', '汉', '😀']) {
      const text = `begin ${filler.repeat(20_000)} end`
      const { outputs } = await outputsOf({}, { text, fails: true })
      const { text: kept, cutChars } = outputs[0] as { text: string; cutChars: number }
      expect(kept).toMatch(/^begin /)
      expect(kept).toMatch(/ end$/)
      expect(kept.length).toBeLessThanOrEqual(8_192)
      expect(cutChars).toBeGreaterThan(0)
      // No character is cut in half.
      expect(Buffer.from(kept).toString()).toBe(kept)
    }
  })

  it('refuses a value that it does not know', () => {
    const records = { outputs: 'everything' } as never
    expect(() => realHub({ records })).toThrow('records.outputs is "everything".')
  })
})
