import { withRequest } from './current-request.mjs'
import { addPrompts } from './prompts.mjs'
import { rawNames } from './raw-tools.mjs'
import { addResources } from './resources.mjs'

/** Adds to a server of ours what the suite wants to see and a hub has not; calls of tools go their own road. */
export function addExtras(server, own) {
  const { era, answer } = own
  addPrompts(server)
  addResources(server, own)
  server.registerCapabilities({ logging: {} })
  const passOn = server.fallbackRequestHandler
  if (!passOn) return
  server.fallbackRequestHandler = (request, context) => {
    if (request.method !== 'tools/call') return passOn(request, context)
    const ours = rawNames.has(request.params?.name) ? withoutState(context) : context
    return withRequest({ server, context, era }, () => answer(request, ours))
  }
}

function withoutState(context) {
  return { ...context, mcpReq: { ...context.mcpReq, requestState: () => undefined } }
}
