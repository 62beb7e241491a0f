import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Which test shows which requirement: the file, and words of the test's own name. */
const SHOWN: Readonly<Record<string, readonly [file: string, test: string]>> = {
  // Core tools (S0)
  'S0-1': ['test/composition.test.ts', 'fetch, select, render and write, each governed'],
  'S0-2': ['src/pipeline.test.ts', 'gives data, content for a model, evidence and the rule that decided'],
  'S0-4': ['test/limits.test.ts', 'pauses a tool that keeps failing'],
  'S0-5': ['test/composition.test.ts', 'fetch, select, render and write, each governed'],
  'S0-6': ['test/records.test.ts', 'has the layout of the documents'],
  'S0-7': ['src/pipeline.test.ts', 'streams its events in order'],
  'S0-9': ['src/hub.test.ts', 'come from built-ins, then plugins, then the caller'],
  'S0-10': ['src/hub.test.ts', 'an S3 AgentTool is accepted and governed'],
  'S0-11': ['test/tool-contract.test.ts', 'keeps the contract'],
  'S0-12': ['test/limits.test.ts', 'cuts the middle at 30,000 characters'],
  'S0-13': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S0-38': ['test/tool-contract.test.ts', 'keeps the contract'],
  'S0-39': ['src/tools/util/json-select.test.ts', 'matches catastrophic patterns in linear time'],
  'S0-40': ['src/tools/util/text-truncate.test.ts', 'keeps the head, the tail or both ends, the marker counted in'],
  'S0-41': ['src/tools/util/hash-sha256-text.test.ts', 'hashes the text as UTF-8'],
  'S0-42': ['src/tools/util/time-now.test.ts', 'tells the time of the hub in UTC'],
  'S0-43': ['src/tools/util/template-render.test.ts', 'includes partials, indented like their tag'],
  'S0-44': ['src/tools/util/json-select.test.ts', 'refuses a selection over maxBytes with the numbers'],
  'S0-45': ['test/limits.test.ts', 'makes a key of request, task, tool and arguments'],
  'S0-48': ['test/tool-contract.test.ts', 'keeps the contract'],
  'S0-49': ['test/records.test.ts', 'and the result hold no secret'],
  'S0-50': ['test/docs.test.ts', 'name every error code'],
  'S0-51': ['test/limits.test.ts', 'naming scope, numbers and the key to raise'],
  'S0-52': ['src/hub.test.ts', 'CoreToolsConfig is taken as it is'],
  'S0-53': ['src/hub.test.ts', 'come from built-ins, then plugins, then the caller'],
  'S0-55': ['test/composition.test.ts', 'with evidence a program can check'],
  'S0-56': ['test/hooks.test.ts', 'after may change the data, which is checked again'],
  // Engine (S1)
  'S1-1': ['src/hub.test.ts', 'come from built-ins, then plugins, then the caller'],
  'S1-2': ['src/hub.test.ts', 'come from built-ins, then plugins, then the caller'],
  'S1-4': ['test/hooks.test.ts', 'fire in the order before, decide, after, settled'],
  'S1-5': ['test/tool-contract.test.ts', 'has a title, a category, tags, a version'],
  'S1-6': ['test/composition.test.ts', 'are held by the schema, before anything runs'],
  'S1-7': ['test/composition.test.ts', 'are held by the schema, before anything runs'],
  'S1-8': ['test/composition.test.ts', 'are held by the schema, before anything runs'],
  'S1-9': ['src/limits/output.test.ts', 'gives a model at most 30,000 characters'],
  'S1-10': ['src/tools/ask/ask-user.test.ts', 'stops asking when the call is stopped'],
  'S1-11': ['src/tools/ask/ask-user.test.ts', 'takes the default when nobody answers in time'],
  'S1-19': ['src/pipeline.test.ts', 'is aborted when the caller stops'],
  'S1-20': ['test/policy.test.ts', 'are decided for each demand'],
  'S1-21': ['test/records.test.ts', 'has the layout of the documents'],
  'S1-22': ['test/limits.test.ts', 'tell at three quarters and stop at the limit'],
  // Tool module (S2)
  'S2-1': ['src/hub.test.ts', 'can be registered, found, listed and shown to a model'],
  'S2-2': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S2-3': ['src/pipeline.test.ts', 'comes after the time limit and the grace'],
  'S2-4': ['src/hub.test.ts', 'can be registered, found, listed and shown to a model'],
  'S2-5': ['src/hub.test.ts', 'can be registered, found, listed and shown to a model'],
  'S2-6': ['src/hub.test.ts', 'results have the forms of S0, S2, S3 and S4'],
  'S2-7': ['src/hub.test.ts', 'results have the forms of S0, S2, S3 and S4'],
  'S2-8': ['test/approvals.test.ts', 'shows tool, input, targets, rule, reason and who asks'],
  'S2-9': ['test/approvals.test.ts', 'shows tool, input, targets, rule, reason and who asks'],
  'S2-10': ['src/pipeline.test.ts', 'keeps a thrown error of ours, and hides a defect'],
  'S2-15': ['src/config/read-config.test.ts', 'reads policy by tool, verbatim, wherever it stands'],
  'S2-17': ['test/policy.test.ts', 'say effect, rule, source, reason and fix, and do nothing'],
  // Abstraction layer (S3)
  'S3-1': ['src/hub.test.ts', 'an S3 AgentTool is accepted and governed'],
  'S3-2': ['src/hub.test.ts', 'results have the forms of S0, S2, S3 and S4'],
  'S3-3': ['src/hub.test.ts', 'tool definitions of S3 call down the road'],
  'S3-7': ['src/hub.test.ts', 'tool definitions of S3 call down the road'],
  'S3-8': ['src/policy/visibility.test.ts', 'a tool is in its own group and in those that list one of its names'],
  'S3-9': ['src/config/read-config.test.ts', 'reads visibility as JSON5, verbatim'],
  'S3-10': ['src/policy/visibility.test.ts', 'refuses one that does not exist'],
  'S3-11': ['src/hub.test.ts', 'are visible by profile, allow and deny'],
  'S3-12': ['test/records.test.ts', 'has the layout of the documents'],
  'S3-13': ['src/hub.test.ts', 'errors as results, aborts thrown'],
  'S3-14': ['src/pipeline.test.ts', 'comes at once when the caller has stopped already'],
  'S3-15': ['src/hub.test.ts', 'an S3 AgentTool is accepted and governed'],
  'S3-17': ['src/hub.test.ts', 'a plugin registers an AgentTool as S3 shows it'],
  'S3-18': ['test/policy.test.ts', 'are decided for each demand'],
  'S3-19': ['src/hub.test.ts', 'can be registered, found, listed and shown to a model'],
  // Toolsets and governance (S4)
  'S4-1': ['test/composition.test.ts', 'fetch, select, render and write, each governed'],
  'S4-2': ['src/hub.test.ts', 'bring tools, hooks and a set-up that every call waits for'],
  'S4-4': ['src/hub.test.ts', 'bring tools, hooks and a set-up that every call waits for'],
  'S4-8': ['test/policy.test.ts', 'say effect, rule, source, reason and fix, and do nothing'],
  'S4-9': ['test/policy.test.ts', 'closed whatever the owner writes'],
  'S4-10': ['test/policy.test.ts', 'inside the sandbox, and nothing outside'],
  'S4-11': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S4-12': ['test/policy.test.ts', 'of skills are requests: shown, never a grant'],
  'S4-13': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S4-15': ['src/hub.test.ts', 'results have the forms of S0, S2, S3 and S4'],
  'S4-16': ['src/config/load-config.test.ts', 'loadConfig'],
  'S4-17': ['src/hub.test.ts', 'events of every call, to whoever listens'],
  'S4-18': ['test/records.test.ts', 'has the layout of the documents'],
  'S4-19': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S4-20': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S4-21': ['test/policy.test.ts', 'inside the sandbox, and nothing outside'],
  'S4-22': ['test/records.test.ts', 'has the layout of the documents'],
  'S4-23': ['test/limits.test.ts', 'cuts the middle at 30,000 characters'],
  'S4-24': ['test/policy.test.ts', 'say effect, rule, source, reason and fix, and do nothing'],
  'S4-26': ['test/policy.test.ts', 'bound what they let through'],
  'S4-28': ['src/config/load-config.test.ts', 'loadConfig'],
}

/** What the issues so far ask for: `S0-1`, or a range `S0-4..7`. */
const ASKED = [
  ...['S0-1', 'S0-2', 'S0-4..7', 'S0-9..13', 'S0-38..45', 'S0-48..53', 'S0-55', 'S0-56'],
  ...['S1-1', 'S1-2', 'S1-4..11', 'S1-19..22'],
  ...['S2-1..10', 'S2-15', 'S2-17'],
  ...['S3-1..3', 'S3-7..15', 'S3-17..19'],
  ...['S4-1', 'S4-2', 'S4-4', 'S4-8..13', 'S4-15..24', 'S4-26', 'S4-28'],
].flatMap(expand)

describe('requirements', () => {
  it('that the issues ask for each have a test', () => {
    expect(ASKED.filter((number) => !Object.hasOwn(SHOWN, number))).toEqual([])
  })

  for (const [number, [file, test]] of Object.entries(SHOWN)) {
    it(`${number} is shown by a test that exists`, () => {
      const names = [
        ...readFileSync(file, 'utf8').matchAll(/\b(?:it|describe)(?:\.each\([^)]*\))?\(\s*(['`"])(.*?)\1,/gs),
      ].map((match) => match[2]!)
      expect(names.filter((name) => name.includes(test))).not.toEqual([])
    })
  }
})

function expand(range: string): string[] {
  const [, source, first, last = first] = /^(S\d)-(\d+)(?:\.\.(\d+))?$/.exec(range)!
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${source}-${Number(first) + index}`)
}
