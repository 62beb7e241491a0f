import { TEXT } from './arguments.mjs'

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
  recommended,
  strict,
}

/**
 * Other settings that an owner can choose, for the trade-off between approvals and effects that nobody asked for.
 * - no words: as recommended, for a hub that does not know what the user said.
 * - everything allowed: what an attacker can do where nothing is asked.
 * - words for named targets: as strict, with a rule for each tool whose arguments are all texts or targets: it runs if
 *   the targets are from the user.
 */
export const SETTINGS = {
  'everything allowed': (_, tools) => ({
    trust: trustOf(tools),
    rules: [{ allow: 'remote' }, { allow: 'danger:destructive' }],
  }),
  'no words': (server, tools) => ({ ...recommended(server, tools), hearsUser: false }),
  'words for named targets': (server, tools) => {
    const { trust, rules } = strict(server, tools)
    return { trust, rules: [...rules, ...tools.flatMap((tool) => ruleForTargets(server, tool))] }
  },
}

const TARGET =
  /(?:^|_)(?:to|recipients?|e?mails?|address|account|iban|id|path|file|filename|url|host|channel|users?|participants|branch|repository)$/i

function ruleForTargets(server, tool) {
  const { readOnlyHint, destructiveHint } = annotationsOf(tool)
  const names = Object.keys(tool.params?.properties ?? {}).filter((name) => !TEXT.test(name))
  if (readOnlyHint || destructiveHint || names.length === 0 || !names.every((name) => TARGET.test(name))) return []
  return [{ allow: `mcp/${server}.${tool.name}`, where: Object.fromEntries(names.map((name) => [name, 'from-user'])) }]
}

function recommended(server, tools) {
  return {
    trust: trustOf(tools),
    rules: [
      { allow: 'remote', on: `mcp:${server}/*` },
      { ask: 'remote', on: `mcp:${server}/*`, when: { tainted: true } },
      { ask: 'danger:destructive', on: `mcp:${server}/*` },
    ],
  }
}

function strict(server, tools) {
  return { trust: trustOf(tools), rules: [{ ask: 'remote' }, { ask: 'danger:destructive', on: `mcp:${server}/*` }] }
}

/** Believes the annotations of every tool, and that no result is the owner's. */
function trustOf(tools) {
  return { annotations: tools.map(({ name }) => name), results: [] }
}
