import { describe, expect, it } from 'vitest'
import { channelBench, plainMessage } from '../../../../../test/support/channel-bench.ts'
import type { SlackChannelOptions } from '../channel.ts'
import { openSlack } from './slack.ts'

const URL_TEXT = 'https://hooks.slack.example/services/T1/the-secret-of-slack-01'
const open = (options: Partial<SlackChannelOptions> = {}) => {
  const bench = channelBench()
  const channel = openSlack({ kind: 'slack', url: URL_TEXT, ...options }, bench.parts)
  return { ...bench, channel }
}
/** The texts of the sections that a text is shown in. */
async function sectionsOf(text: string, options: Partial<SlackChannelOptions> = {}): Promise<string[]> {
  const { channel, io, fetched } = open({ blocks: true, ...options })
  await channel.send(plainMessage({ text }), io)
  const { blocks } = JSON.parse(fetched[0]!.body as string)
  return blocks.map((block: { text: { text: string } }) => block.text.text)
}

describe('a channel of Slack', () => {
  it('says what it takes, and hides its URL', () => {
    const { channel, hidden } = open()
    expect(channel).toMatchObject({ kind: 'slack', origins: ['https://hooks.slack.example'], canRehearse: true })
    expect(channel.limits).toEqual({ maxChars: 40_000 })
    expect(channel.describe!()).toBe('a Slack channel, by a webhook of hooks.slack.example')
    expect(hidden).toContain('the-secret-of-slack-01')
    expect(open({ blocks: true }).channel.limits).toEqual({ maxChars: 40_000, maxTitleChars: 150 })
    expect(() => open({ url: 'http://hooks.slack.example/x' })).toThrow('holds a secret and is not https')
  })

  it('posts JSON, and shows where without the secret', async () => {
    const { channel, io, fetched } = open()
    expect(await channel.send(plainMessage(), io)).toEqual({})
    expect(fetched).toEqual([
      {
        url: URL_TEXT,
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: '{"text":"Hi"}',
        shownUrl: 'https://hooks.slack.example/…',
      },
    ])
  })

  it('refuses what grows over its limit by escaping, before anything is sent', async () => {
    const { channel, io, fetched } = open()
    await channel.send(plainMessage({ text: '&'.repeat(8_000) }), io)
    await expect(channel.send(plainMessage({ text: '&'.repeat(8_001) }), io)).rejects.toThrow('at most 40000')
    expect(fetched).toHaveLength(1)
  })

  it.each([
    [299, true],
    [300, false],
  ])('that answers %i has taken the message: %s', async (status, isTaken) => {
    const { channel, io, answer } = open()
    answer.status = status
    const outcome = await channel.send(plainMessage(), io).catch(({ code }) => code)
    expect(outcome).toEqual(isTaken ? {} : 'UPSTREAM_ERROR')
  })

  it('mentions whom the owner lets it, and nothing else becomes markup', async () => {
    const { channel, io, fetched } = open({ mentions: true })
    const mentions = '<@U12345> <#C12345> <!here> <!channel> <!everyone> <!subteam^S12345>'
    await channel.send(plainMessage({ text: `${mentions} <!all> <@u> <http://x|y> @anna` }), io)
    expect(JSON.parse(fetched[0]!.body as string)).toEqual({
      text: `${mentions} &lt;!all&gt; &lt;@u&gt; &lt;http://x|y&gt; @anna`,
    })
  })
})

describe('the blocks of Slack', () => {
  it('are a heading, where there is a title, and sections', async () => {
    const { channel, io, fetched } = open({ blocks: true })
    await channel.send(plainMessage({ title: 'A & B', text: 'x & y' }), io)
    expect(JSON.parse(fetched[0]!.body as string)).toEqual({
      text: '*A &amp; B*\nx &amp; y',
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: 'A & B' } },
        { type: 'section', text: { type: 'mrkdwn', text: 'x &amp; y' } },
      ],
    })
    expect(await sectionsOf('x')).toEqual(['x'])
  })

  const [y, z] = ['y', 'z'].map((sign) => (count: number) => sign.repeat(count)) as [
    (count: number) => string,
    (count: number) => string,
  ]
  it.each([
    ['3,000 characters in one', y(3_000), [y(3_000)]],
    ['one more in two', y(3_001), [y(3_000), 'y']],
    ['lines stay whole', `${y(2_000)}\n${z(2_000)}`, [`${y(2_000)}\n`, z(2_000)]],
    ['a first line of one character stays whole', `x\n${y(3_500)}`, ['x\n', y(3_000), y(500)]],
    ['an empty first line does not become a section', `\n${y(3_500)}`, [`\n${y(2_999)}`, y(501)]],
    ['an entity at the end stays whole', `${y(2_998)}&z`, [y(2_998), '&amp;z']],
    ['as far as 29 characters before the end', `${y(2_971)}&${z(50)}`, [y(2_971), `&amp;${z(50)}`]],
    ['what is further away ends before it', `${y(2_970)}&${z(50)}`, [`${y(2_970)}&amp;${z(25)}`, z(25)]],
  ])('%s', async (_, text, sections) => {
    expect(await sectionsOf(text)).toEqual(sections)
  })

  it('keep mentions whole', async () => {
    expect(await sectionsOf(`${y(2_997)}<!here>z`, { mentions: true })).toEqual([y(2_997), '<!here>z'])
  })
})
