import { describe, expect, it } from 'vitest'
import { useMessages } from '../../../../../test/support/message-hub.ts'

const world = useMessages()

describe('Slack', () => {
  it('gets text without mentions and without markup of links', async () => {
    const { send } = world.open({ ops: world.slack() })
    await send({ channel: 'ops', title: 'A & B', text: '<!channel> <@U12345> <https://evil.example|click>' })
    expect(world.services.got[0]!.json).toEqual({
      text: '*A &amp; B*\n&lt;!channel&gt; &lt;@\u200bU12345&gt; &lt;https://evil.example|click&gt;',
    })
  })

  it('and what speaks like it mention nobody by plain words, and addresses stay whole', async () => {
    const { send } = world.open({ ops: world.slack() })
    await send({ channel: 'ops', text: '@channel, (@all) and @anna: ask bob@example.org @ noon' })
    expect(world.services.got[0]!.json).toEqual({
      text: '@\u200bchannel, (@\u200ball) and @\u200banna: ask bob@example.org @ noon',
    })
  })

  it('mentions people where the owner lets it, and shows blocks', async () => {
    const { send } = world.open({ ops: world.slack({ mentions: true, blocks: true }) })
    expect((await send({ channel: 'ops', title: 'Up <3', text: `<!here> ${'y'.repeat(4_000)}` })).ok).toBe(true)
    const { text, blocks } = world.services.got[0]!.json as {
      text: string
      blocks: { type: string; text: { text: string } }[]
    }
    expect(text).toMatch(/^\*Up &lt;3\*\n<!here> y/)
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'section', 'section'])
    expect(blocks[0]!.text.text).toBe('Up <3')
    expect(blocks.every((block) => block.text.text.length <= 3_000)).toBe(true)
  })

  it('says no in its own words, and the URL is nowhere to be seen', async () => {
    const { hub, send } = world.open({
      ops: { kind: 'slack', url: `${world.services.url}/services/T9/B9/other-path-secret-9999` },
    })
    const result = await send({ channel: 'ops', text: 'x' })
    expect(result.error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The channel ops refused it (404): no_service.',
    })
    expect(result.meta.labels).toEqual(['untrusted'])
    world.services.upsets.push('429')
    const { send: again } = world.open({ ops: world.slack() })
    expect((await again({ channel: 'ops', text: 'x' })).error).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining('wait 30000 ms'),
    })
    expect(JSON.stringify(result) + world.recordOf(hub)).not.toContain('path-secret')
  })

  it('is not tried again when nobody knows whether it arrived', async () => {
    const { send } = world.open({ ops: { kind: 'slack', url: `${world.services.url}/reset` } })
    expect((await send({ channel: 'ops', text: 'x' })).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      retryable: false,
      message: expect.stringContaining('It is not known whether the message reached ops'),
    })
    expect(world.services.got).toHaveLength(1)
  })

  it('cannot edit, react, attach or choose recipients, and says so', async () => {
    const { send } = world.open({ ops: world.slack() })
    const ref = `artifact:${'a'.repeat(64)}`
    for (const [input, message] of [
      [{ action: 'edit', messageId: '1', text: 'x' }, 'The channel ops (slack) cannot edit.'],
      [{ action: 'react', messageId: '1', emoji: '👍' }, 'The channel ops (slack) cannot react.'],
      [{ text: 'x', attachments: [{ ref }] }, 'takes no attachments'],
      [{ text: 'x', to: ['#general'] }, 'has no recipients to choose from'],
    ] as const) {
      const { error } = await send({ channel: 'ops', ...input })
      expect(error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining(message) })
    }
    expect(world.services.got).toEqual([])
  })
})
