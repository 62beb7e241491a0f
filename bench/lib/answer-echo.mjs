import { echoTools } from './echo-tools.mjs'

/** Gives a low-level server its tools, with nothing in between. */
export function answerEcho(server, count) {
  const tools = echoTools(count)
  server.setRequestHandler('tools/list', () => ({ tools }))
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: String(params.arguments?.text) }],
  }))
  return server
}
