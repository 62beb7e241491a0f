import type OpenAI from 'openai'
import type { Hub } from '../../runtime/src/hub/hub.ts'
import { collectToolCalls, toOpenAi } from './openai.ts'

/** Checked by the compiler: what we give fits the real package's types, and what it gives fits ours. */
export async function loops(hub: Hub, client: OpenAI): Promise<void> {
  const { chat, responses } = toOpenAi(hub, { strict: true, imagesAsUser: true, run: 'r', names: ['a'] })

  const chatTools: OpenAI.ChatCompletionTool[] = chat.tools
  const messages: OpenAI.ChatCompletionMessageParam[] = []
  const completion = await client.chat.completions.create({ model: 'm', messages, tools: chatTools })
  const { message } = completion.choices[0]!
  messages.push(message, ...(await chat.run(message)), ...(await chat.run(message.tool_calls ?? [])))

  const collected = collectToolCalls()
  for await (const chunk of await client.chat.completions.create({ model: 'm', messages, stream: true })) {
    collected.add(chunk)
  }
  messages.push({ role: 'assistant', tool_calls: collected.toolCalls }, ...(await chat.run(collected.toolCalls)))

  const tools: OpenAI.Responses.Tool[] = responses.tools
  const response = await client.responses.create({ model: 'm', input: 'go', tools })
  const input: OpenAI.Responses.ResponseInput = [...(await responses.run(response))]
  input.push(...(await responses.run(response.output)))

  // @ts-expect-error this option does not exist
  toOpenAi(hub, { stric: true })
  // @ts-expect-error calls of a run have no common key
  await chat.run(message, { idempotencyKey: 'k' })
}
