// The tool call that an op of paths.jsonl stands for.

/** Part of the outside text: a search that leaves the root returns the line, and with it more than was asked for. */
const NEEDLE = 'SECRE'

const CALLS = {
  read: ({ path }) => ['core/fs.readText', { path }],
  // Overwriting unless the case says otherwise: a refusal must come from the guard, not from a file that exists.
  write: ({ path, overwrite = true, text = 'written' }) => ['core/fs.writeText', { path, text, overwrite }],
  list: ({ path }) => ['core/fs.listDir', { path, includeHidden: true }],
  'list-recursive': ({ path }) => ['core/fs.listDir', { path, includeHidden: true, recursive: true, maxDepth: 10 }],
  search: ({ path, query = NEEDLE }) => ['core/fs.searchText', { root: path, query }],
  mkdir: ({ path }) => ['core/fs.mkdir', { path }],
  delete: ({ path, confirm, recursive }) => ['core/fs.deletePath', given({ path, confirm, recursive })],
  rename: ({ path, dest }) => ['core/fs.move', { from: path, to: dest }],
  apply_patch: ({ path }) => ['core/fs.applyPatch', { input: withEnvelope(path) }],
  extract: ({ path }) => ['attacks.extract', { entries: path }],
}

/** The name of the tool and its input. */
export function callOf(attack) {
  if (!Object.hasOwn(CALLS, attack.op)) throw new Error(`${attack.id}: no op ${attack.op}`)
  return CALLS[attack.op](attack)
}

/** allow, ask or deny, with the code of a refusal. */
export function verdictOf(result) {
  if (result.ok) return { verdict: 'allow' }
  const { code, message } = result.error
  const verdict = result.status === 'approval_required' ? 'ask' : 'deny'
  return { verdict, code, message, problem: code === 'INTERNAL' ? 'a defect, not a refusal' : undefined }
}

function given(input) {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
}

/** The cases hold the hunks only. */
function withEnvelope(body) {
  if (typeof body !== 'string' || body.startsWith('*** Begin Patch')) return body
  return `*** Begin Patch\n${body}\n*** End Patch`
}
