/** Names of tools that only read begin with one of these verbs. */
const READ = verbs('get list search read find check view show count lookup fetch query describe')
/** Names of tools that destroy begin with one of these. */
const DESTROY = verbs('delete remove cancel drop purge erase destroy reset clear')

function verbs(words) {
  return new RegExp(`^(?:${words.replaceAll(' ', '|')})(?:[_-]|[A-Z]|$)`)
}

/** The annotations of a tool: its own, or by the verb that its name begins with. */
export function annotationsOf({ name, annotations }) {
  if (annotations) return annotations
  return { readOnlyHint: READ.test(name), destructiveHint: DESTROY.test(name) }
}

/**
 * The policies that are compared, for an MCP server with these tools.
 * - defaults: what holds without any rule.
 * - recommended: the annotations of the server are believed, its results are not. Side effects are allowed until the run
 *   has read content from outside; then those run whose values come from the user, and the others ask.
 * - strict: the same trust, but every side effect asks.
 */
export const POLICIES = {
  defaults: () => ({}),
  recommended: (server, tools) => ({
    trust: trustOf(tools),
    rules: [
      { allow: 'remote', on: `mcp:${server}/*` },
      { ask: 'remote', on: `mcp:${server}/*`, when: { tainted: true } },
      { ask: 'danger:destructive', on: `mcp:${server}/*` },
    ],
  }),
  strict: (server, tools) => ({
    trust: trustOf(tools),
    rules: [{ ask: 'remote' }, { ask: 'danger:destructive', on: `mcp:${server}/*` }],
  }),
}

/** Believes the annotations of every tool, and that no result is the owner's. */
function trustOf(tools) {
  return { annotations: tools.map(({ name }) => name), results: [] }
}
