import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * A contender in a process of its own, measured there. LangChain switches on async hooks, which makes every promise of
 * the process slower: what shares a process with it is not measured by itself.
 */
export async function startPeer(name, ...args) {
  const child = fork(fileURLToPath(new URL('peer-process.mjs', import.meta.url)), [name, ...args])
  await answerOf(child)
  return {
    async microsecondsEach(calls) {
      child.send({ calls })
      return (await answerOf(child)).microseconds
    },
    stop: () => child.disconnect(),
  }
}

async function answerOf(child) {
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`the peer ended with ${code}`)
  })
  const [message] = await Promise.race([once(child, 'message'), gone])
  return message
}
