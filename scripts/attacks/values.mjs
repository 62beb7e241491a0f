// Runs values.jsonl through a hub: what policy says about arguments, given rules about them or what the user said.
import { createToolHub } from '../../packages/tool-hub/dist/index.js'
import { scoreCase } from './score.mjs'

/** Any call asks once the run has read content from outside. */
const TAINTED = [{ allow: '*' }, { ask: '*', when: { tainted: true } }]
/** Names that the schema of the tool has. */
const NAMES =
  `to cc body message text recipient url path amount shares title people channel visibility members password`.split(' ')

/** The scores of all cases. */
export async function runValues(attacks) {
  const scores = []
  for (const attack of attacks) scores.push(scoreCase(attack, await ask(attack)))
  return scores
}

async function ask({
  said,
  input,
  rules = TAINTED,
  capability = 'remote',
  tool: name = said ? 'post.send' : 'post.act',
}) {
  const tool = {
    name,
    description: 'Acts.',
    input: { type: 'object', properties: Object.fromEntries(NAMES.map((name) => [name, {}])) },
    capabilities: [capability],
    execute: () => 'done',
  }
  const hub = createToolHub({ tools: [tool], policy: rules })
  try {
    const run = 'attack'
    if (said !== undefined) await hub.addUserText(said, { run })
    const { effect, rule, reason } = await hub.explain(name, input, { run, untrusted: said !== undefined })
    return { verdict: effect, code: rule, message: reason, effects: [] }
  } catch (error) {
    return { verdict: 'deny', message: String(error), problem: `the hub failed: ${error}`, effects: [] }
  } finally {
    await hub.close()
  }
}
