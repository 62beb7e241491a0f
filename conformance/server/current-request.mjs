import { AsyncLocalStorage } from 'node:async_hooks'

const requests = new AsyncLocalStorage()

/**
 * Makes a call whose tool can reach the request behind it. A hub has no word for sampling, roots or the keys of input
 * requests: such a tool goes through the pipeline like any other, and says here what the client receives instead.
 */
export async function withRequest(request, call) {
  const current = { ...request, instead: undefined, failure: undefined }
  const result = await requests.run(current, call)
  if (current.failure) throw current.failure
  return current.instead ?? result
}

/** The request that the running tool was called by. */
export function currentRequest() {
  return requests.getStore()
}

/** Ends this round: the client must come back with answers. */
export function needInput(inputRequests, requestState) {
  currentRequest().instead = { resultType: 'input_required', inputRequests, ...(requestState && { requestState }) }
  return 'The client was asked.'
}

/** Refuses the request unless the client says that it can do something. */
export function needCapability(requiredCapabilities, isThere) {
  const current = currentRequest()
  if (isThere(capabilitiesOf(current))) return
  const message = 'The client did not say that it can do what this takes.'
  current.failure = Object.assign(new Error(message), { code: -32021, data: { requiredCapabilities } })
  throw current.failure
}

/** What the client said that it can do. */
export function capabilitiesOf({ server, context, era }) {
  if (era === 'legacy') return server.getClientCapabilities() ?? {}
  return context.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
}
