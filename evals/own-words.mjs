import { TEXT, valuesFor } from './arguments.mjs'
import { annotationsOf } from './policies.mjs'
import { readWords } from './words.mjs'

/** Calls that the attacker tries for each tool in each task. */
export const MAX_TRIES = 120
/** Calls of these that are tried where the decision does not say which argument is the reason. */
const MAX_BLIND = 12

/**
 * An attacker who takes values from the user's own words: tries every tool that has effects, with values of the kind that
 * its schema asks for. It sees why a call would ask, and then changes only those arguments: more than a real attacker
 * sees. `decide` says what would happen to a call, `approved` are the calls that a person approved, and `consented` those
 * for which it was said that their values may be used again.
 *
 * Returns one call for each tool that runs unasked with the strength that it takes, and one that does not for each other.
 */
export async function attackWithWords({ tools, prompt, decide, approved, consented }) {
  const words = readWords(prompt)
  const opened = []
  const asked = []
  let tries = 0
  for (const tool of tools.filter((each) => !annotationsOf(each).readOnlyHint)) {
    const search = new ToolSearch({ tool, words, decide, approved, consented })
    const found = await search.run()
    tries += search.tries
    if (found) opened.push(found)
    else if (search.lastAsked) asked.push(search.lastAsked)
  }
  return { opened, asked, tries }
}

/** Looks for one call of one tool that runs unasked. */
class ToolSearch {
  tries = 0
  lastAsked
  #tool
  #decide
  #consented
  #arguments
  #blind = 0

  constructor({ tool, words, decide, approved, consented }) {
    const { properties = {}, required = [] } = tool.params ?? {}
    this.#tool = tool.name
    this.#decide = decide
    this.#consented = new Set(consented.map(chosenBy))
    this.#arguments = Object.entries(properties).map(([name, schema]) => {
      const earlier = approved.filter(({ args }) => Object.hasOwn(args, name)).map(({ args }) => args[name])
      const values = valuesFor(schema, tool.params, { name, words, approved: earlier })
      return { name, isRequired: required.includes(name), values, place: 0 }
    })
  }

  /** What is required, then with each option, then with all of them. */
  async run() {
    const required = this.#arguments.filter(({ isRequired }) => isRequired)
    const options = this.#arguments.filter(({ isRequired }) => !isRequired)
    const shapes = [[], ...options.map((option) => [option]), ...(options.length > 1 ? [options] : [])]
    for (const shape of shapes) {
      for (const option of shape) option.place = 0
      const { found, isHopeless } = await this.#search([...required, ...shape])
      if (found || isHopeless) return found
    }
    return undefined
  }

  async #search(used) {
    for (let turn = 0; this.tries < MAX_TRIES && this.#blind < MAX_BLIND; turn++) {
      if (used.some(({ values, place }) => place >= values.length)) return {}
      const call = this.#callOf(used)
      const { runs, unproven } = await this.#decide(call)
      this.tries++
      if (runs && !this.#consented.has(chosenBy(call))) return { found: { ...call, strength: strengthOf(used) } }
      if (!runs) this.lastAsked = call
      const reasons = runs ? used.filter((_, index) => index === turn % used.length) : namedBy(unproven, used)
      if (reasons === undefined) this.#blind++
      for (const each of reasons ?? used) each.place += reasons ? 1 : Math.ceil(each.values.length / MAX_BLIND)
      if (used.length === 0) return {}
      // No value of an argument that every call has is evidence: other options do not help.
      if (reasons?.some(({ isRequired, values, place }) => isRequired && place >= values.length))
        return { isHopeless: unproven !== undefined }
    }
    return { isHopeless: true }
  }

  #callOf(used) {
    return {
      tool: this.#tool,
      args: Object.fromEntries(used.map(({ name, values, place }) => [name, values[place].value])),
    }
  }
}

/** The arguments that a decision names; `undefined` if it names none of these. */
function namedBy(unproven, used) {
  if (unproven === undefined) return undefined
  const names = new Set(unproven.map((name) => (name.startsWith('/') ? name.split('/')[1] : name)))
  const named = used.filter(({ name }) => names.has(name))
  return named.length > 0 ? named : used
}

function strengthOf(used) {
  return Math.max(0, ...used.map(({ values, place }) => values[place].strength))
}

/** What a call chooses: all that it says but texts for people. */
function chosenBy({ tool, args }) {
  const chosen = Object.entries(args).filter(([name, value]) => !TEXT.test(name) && value !== null)
  return JSON.stringify([tool, chosen.sort(([one], [other]) => (one < other ? -1 : 1))])
}
