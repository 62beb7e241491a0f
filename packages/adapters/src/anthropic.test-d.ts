import type Anthropic from '@anthropic-ai/sdk'
import type { Hub } from '../../runtime/src/hub/hub.ts'
import { toAnthropic } from './anthropic.ts'

/** Checked by the compiler: what we give fits the real package's types, and what it gives fits ours. */
export async function loop(hub: Hub, client: Anthropic): Promise<void> {
  const claude = toAnthropic(hub, { cacheControl: { ttl: '1h' }, strict: ['a'], session: 's' })
  const tools: Anthropic.ToolUnion[] = claude.tools
  const messages: Anthropic.MessageParam[] = []
  const message = await client.messages.create({ model: 'm', max_tokens: 1, messages, tools })
  const content: Anthropic.ToolResultBlockParam[] = await claude.run(message)
  messages.push({ role: 'user', content }, { role: 'user', content: await claude.run(message.content) })
  const beta: Anthropic.Beta.BetaToolUnion[] = claude.tools
  const final = await client.beta.messages
    .stream({ model: 'm', max_tokens: 1, messages: [], tools: beta })
    .finalMessage()
  await claude.run(final, { signal: AbortSignal.timeout(1), approve: () => ({ decision: 'allow' }) })

  // @ts-expect-error a cache lives for 5 minutes or an hour
  toAnthropic(hub, { cacheControl: { ttl: '1d' } })
}
