import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Which test shows which requirement: the file, and words of the test's own name. */
const SHOWN: Readonly<Record<string, readonly [file: string, test: string]>> = {
  // Core tools (S0)
  'S0-1': ['test/composition.test.ts', 'fetch, select, render and write, each governed'],
  'S0-2': ['src/pipeline.test.ts', 'gives data, content for a model, evidence and the rule that decided'],
  'S0-3': ['test/attacks/attacks.test.ts', 'escapes, and at most 2 % of what is to be allowed is refused'],
  'S0-4': ['test/service.test.ts', 'makes a call with a key once, also over a restart'],
  'S0-5': ['test/composition.test.ts', 'fetch, select, render and write, each governed'],
  'S0-6': ['test/service.test.ts', 'shows every call in its records, its index and its metrics'],
  'S0-7': ['src/pipeline.test.ts', 'streams its events in order'],
  'S0-8': ['src/guards/pages/extract-page.test.ts', 'has a title, an author, a language and no menus'],
  'S0-9': ['src/hub.test.ts', 'come from built-ins, then plugins, then the caller'],
  'S0-10': ['src/sources/forms/from-lang-chain.test.ts', 'takes a tool in: its schema checks'],
  'S0-11': ['test/tool-contract.test.ts', 'keeps the contract'],
  'S0-12': ['test/limits.test.ts', 'cuts the middle at 30,000 characters'],
  'S0-13': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S0-14': ['src/guards/files/files-guard.test.ts', 'refuses every way out'],
  'S0-15': ['src/tools/fs/delete-path.test.ts', 'is off unless a rule allows it'],
  'S0-16': ['src/tools/http/fetch-text.test.ts', 'reaches no host that the owner did not name'],
  'S0-17': ['src/guards/network/network-guard.test.ts', 'dials nothing when one of the answers is not public'],
  'S0-18': ['test/dialects.test.ts', 'lies below the sandbox root of S0, apart from those of other runs'],
  'S0-19': ['test/race.test.ts', '50,000 reads read nothing outside'],
  'S0-20': ['src/tools/fs/read-text.test.ts', 'gives size, hash, beginning and reference of a file that is too large'],
  'S0-21': ['src/tools/fs/write-text.test.ts', 'never replaces a file unless asked'],
  'S0-22': ['src/tools/fs/write-text.test.ts', 'writes a new file and the folders above it'],
  'S0-23': ['src/tools/fs/read-text.test.ts', 'gives the text, the bytes and evidence of them'],
  'S0-24': ['src/tools/fs/write-text.test.ts', 'writes a new file and the folders above it'],
  'S0-25': ['src/tools/fs/list-dir.test.ts', 'lists a folder with type, size and time'],
  'S0-26': ['src/tools/fs/search-text.test.ts', 'finds plain text in the kinds of files that S0 names'],
  'S0-27': ['src/tools/fs/small-tools.test.ts', 'core/fs.sha256 hashes a file'],
  'S0-28': ['src/tools/fs/delete-path.test.ts', 'only tells what would be deleted until it is confirmed'],
  'S0-29': ['test/attacks/attacks.test.ts', 'escapes, and at most 2 % of what is to be allowed is refused'],
  'S0-30': ['src/guards/network/match-host.test.ts', 'reads *. as one label or more, without the apex'],
  'S0-31': ['src/guards/network/network-guard.test.ts', 'lets a request set its own time, within reason'],
  'S0-32': ['src/guards/network/retry-plan.test.ts', 'repeats a POST only with its key and the owner'],
  'S0-33': ['src/tools/http/fetch-text.test.ts', 'cuts what is over the limit, and says how to get the rest'],
  'S0-34': ['src/tools/http/fetch-text.test.ts', 'gives text, status and headers'],
  'S0-35': ['src/tools/http/fetch-json.test.ts', 'says what came when it is no JSON object or array'],
  'S0-36': ['src/tools/http/download-file.test.ts', 'streams to a file, with its hash and where it came from'],
  'S0-37': ['src/tools/http/head.test.ts', 'tells size and version without the content'],
  'S0-38': ['test/tool-contract.test.ts', 'keeps the contract'],
  'S0-39': ['src/tools/util/json-select.test.ts', 'matches catastrophic patterns in linear time'],
  'S0-40': ['src/tools/util/text-truncate.test.ts', 'keeps the head, the tail or both ends, the marker counted in'],
  'S0-41': ['src/tools/util/hash-sha256-text.test.ts', 'hashes the text as UTF-8'],
  'S0-42': ['src/tools/util/time-now.test.ts', 'tells the time of the hub in UTC'],
  'S0-43': ['src/tools/util/template-render.test.ts', 'includes partials, indented like their tag'],
  'S0-44': ['src/tools/util/json-select.test.ts', 'refuses a selection over maxBytes with the numbers'],
  'S0-45': ['test/limits.test.ts', 'makes a key of request, task, tool and arguments'],
  'S0-46': ['src/tools/http/fetch-text.test.ts', 'keeps the whole in a file when the owner wants that'],
  'S0-47': ['src/tools/fs/read-text.test.ts', 'gives size, hash, beginning and reference of a file that is too large'],
  'S0-48': ['src/tools/http/download-file.test.ts', 'streams to a file, with its hash and where it came from'],
  'S0-49': ['src/tools/http/fetch-text.test.ts', 'fills in a secret that the model never sees'],
  'S0-50': ['test/docs.test.ts', 'name every error code'],
  'S0-51': ['test/limits.test.ts', 'naming scope, numbers and the key to raise'],
  'S0-52': ['src/hub.test.ts', 'CoreToolsConfig is taken as it is'],
  'S0-53': ['src/hub.test.ts', 'come from built-ins, then plugins, then the caller'],
  'S0-54': ['test/tool-contract.test.ts', 'keeps the contract'],
  'S0-55': ['test/composition.test.ts', 'with evidence a program can check'],
  'S0-56': ['test/hooks.test.ts', 'after may change the data, which is checked again'],
  // Engine (S1)
  'S1-1': ['src/hub.test.ts', 'come from built-ins, then plugins, then the caller'],
  'S1-2': ['src/hub.test.ts', 'come from built-ins, then plugins, then the caller'],
  'S1-3': ['test/dialects.test.ts', 'show the coding profile the names that coding models know'],
  'S1-4': ['test/hooks.test.ts', 'fire in the order before, decide, after, settled'],
  'S1-5': ['test/tool-contract.test.ts', 'has a title, a category, tags, a version'],
  'S1-6': ['test/composition.test.ts', 'are held by the schema, before anything runs'],
  'S1-7': ['src/tools/exec/exec-run.test.ts', 'refuses to run %s'],
  'S1-8': ['src/tools/fs/edit.test.ts', 'before it looks at the file'],
  'S1-9': ['src/limits/output.test.ts', 'gives a model at most 30,000 characters'],
  'S1-10': ['src/tools/ask/ask-user.test.ts', 'stops asking when the call is stopped'],
  'S1-11': ['src/tools/ask/ask-user.test.ts', 'takes the default when nobody answers in time'],
  'S1-12': ['src/tools/fs/read-text.test.ts', 'advises ls for a folder'],
  'S1-13': ['src/tools/fs/edit.test.ts', 'says how often a text stands there and what to do'],
  'S1-14': ['src/tools/fs/search-text.test.ts', 'goes on page by page without a gap'],
  'S1-15': ['src/tools/exec/exec-run.test.ts', 'says so when the time is over, with what there is so far'],
  'S1-16': ['src/tools/exec/exec-run.test.ts', 'streams output as it comes, and says by which stream'],
  'S1-17': ['test/containment/containment.test.ts', 'commands that try to get out'],
  'S1-18': ['src/tools/exec/exec-run.test.ts', 'runs words without a shell: nothing in them is special'],
  'S1-19': ['src/tools/exec/exec-run.test.ts', 'ends the command when its caller stops'],
  'S1-20': ['test/policy.test.ts', 'are decided for each demand'],
  'S1-21': ['src/hub/principal-hubs.test.ts', 'names the principal in every record'],
  'S1-22': ['test/limits.test.ts', 'tell at three quarters and stop at the limit'],
  // Tool module (S2)
  'S2-1': ['test/gateway.test.ts', 'shows the tools of all of them and its own at one endpoint, whichever is down'],
  'S2-2': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S2-3': ['test/containment/containment.test.ts', 'commands that try to get out'],
  'S2-4': ['src/hub.test.ts', 'can be registered, found, listed and shown to a model'],
  'S2-5': ['src/hub.test.ts', 'can be registered, found, listed and shown to a model'],
  'S2-6': ['src/hub.test.ts', 'results have the forms of S0, S2, S3 and S4'],
  'S2-7': ['src/hub.test.ts', 'results have the forms of S0, S2, S3 and S4'],
  'S2-8': ['test/approvals.test.ts', 'shows tool, input, targets, rule, reason and who asks'],
  'S2-9': ['test/approvals.test.ts', 'shows tool, input, targets, rule, reason and who asks'],
  'S2-10': ['src/pipeline.test.ts', 'keeps a thrown error of ours, and hides a defect'],
  'S2-11': ['src/tools/fs/read-text.test.ts', 'gives plain lines from start_line to end_line'],
  'S2-12': ['src/tools/exec/exec-run.test.ts', 'by the name run_shell begins a failure with its exit code'],
  'S2-13': ['test/dialects.test.ts', 'take the spellings of other families'],
  'S2-14': ['test/dialects.test.ts', 'show the files and the web names when they are asked for'],
  'S2-15': ['test/commands.test.ts', 'by a policy.yaml of S2: its whitelist, its blacklist and everything else asked'],
  'S2-16': ['src/sources/mcp/mcp-source.test.ts', 'connects all of them, and finds out which protocol they speak'],
  'S2-17': ['test/policy.test.ts', 'say effect, rule, source, reason and fix, and do nothing'],
  'S2-18': ['src/sources/mcp/mcp-source.test.ts', 'ends calls of a server that is killed, starts it again'],
  'S2-19': ['test/commands.test.ts', 'are denied until a rule enables them, then judged part by part'],
  'S2-20': ['src/tools/fs/read-text.test.ts', 'gives at most 1 MB and says what is left out'],
  // Abstraction layer (S3)
  'S3-1': ['src/adapters/agent-tools.test.ts', 'have a label and parameters, and answer with content and details'],
  'S3-2': ['src/hub.test.ts', 'results have the forms of S0, S2, S3 and S4'],
  'S3-3': ['src/hub.test.ts', 'tool definitions of S3 call down the road'],
  'S3-4': ['test/profiles.test.ts', 'full shows every tool, and no profile names one that is not there'],
  'S3-5': ['src/tools/fs/read-text.test.ts', 'numbers lines and says where to go on'],
  'S3-6': ['test/tool-contract.test.ts', 'keeps the contract'],
  'S3-7': ['src/adapters/agent-tools.test.ts', 'have a second form with the arguments in another order'],
  'S3-8': ['test/profiles.test.ts', 'holds the tools of its table, in allow and in deny'],
  'S3-9': ['src/config/read-config.test.ts', 'reads visibility as JSON5, verbatim'],
  'S3-10': ['test/profiles.test.ts', 'shows the tools of its table'],
  'S3-11': ['src/hub.test.ts', 'are visible by profile, allow and deny'],
  'S3-12': ['test/records.test.ts', 'has the layout of the documents'],
  'S3-13': [
    'src/adapters/agent-tools.test.ts',
    'give failures to the model and to the log, and throw what was stopped',
  ],
  'S3-14': ['src/pipeline.test.ts', 'comes at once when the caller has stopped already'],
  'S3-15': ['src/tools/fs/read-text.test.ts', 'gives an image as an image, by its content and not its name'],
  'S3-16': ['src/client/socket/hub-socket.test.ts', 'executes its own tools once, whatever drops meanwhile'],
  'S3-17': ['src/hub.test.ts', 'a plugin registers an AgentTool as S3 shows it'],
  'S3-18': ['test/policy.test.ts', 'are decided for each demand'],
  'S3-19': ['src/adapters/schema/for-provider.test.ts', 'closes objects, requires all'],
  // Toolsets and governance (S4)
  'S4-1': ['test/composition.test.ts', 'fetch, select, render and write, each governed'],
  'S4-2': ['src/hub.test.ts', 'bring tools, hooks and a set-up that every call waits for'],
  'S4-3': ['test/dialects.test.ts', 'show the files and the web names when they are asked for'],
  'S4-4': ['src/hub.test.ts', 'bring tools, hooks and a set-up that every call waits for'],
  'S4-5': ['test/dialects.test.ts', 'take the spellings of other families'],
  'S4-6': [
    'src/sources/skills/skill-source.test.ts',
    'gives its text, where it lies and which files it has, in every dialect',
  ],
  'S4-7': [
    'src/abilities/memory/memory.test.ts',
    'waits in the archive of its run, unasked, and is recalled only after',
  ],
  'S4-8': ['test/policy.test.ts', 'say effect, rule, source, reason and fix, and do nothing'],
  'S4-9': ['test/policy.test.ts', 'closed whatever the owner writes'],
  'S4-10': ['test/policy.test.ts', 'inside the sandbox, and nothing outside'],
  'S4-11': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S4-12': [
    'src/sources/skills/skill-source.test.ts',
    'is shown to the approver and by explain, and changes no decision',
  ],
  'S4-13': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S4-14': ['src/config/to-memory.test.ts', 'reads the modes of S4: candidate unless said'],
  'S4-15': ['src/hub.test.ts', 'results have the forms of S0, S2, S3 and S4'],
  'S4-16': ['src/config/load-config.test.ts', 'loadConfig'],
  'S4-17': ['src/hub.test.ts', 'events of every call, to whoever listens'],
  'S4-18': ['test/records.test.ts', 'has the layout of the documents'],
  'S4-19': ['test/policy.test.ts', 'never overwrites, deletes or runs commands until a rule says so'],
  'S4-20': ['test/commands.test.ts', 'are denied until a rule enables them, then judged part by part'],
  'S4-21': ['test/race.test.ts', '10,000 writes write nothing outside'],
  'S4-22': ['test/records.test.ts', 'has the layout of the documents'],
  'S4-23': ['test/limits.test.ts', 'cuts the middle at 30,000 characters'],
  'S4-24': ['test/policy.test.ts', 'say effect, rule, source, reason and fix, and do nothing'],
  'S4-25': [
    'src/abilities/memory/memory.test.ts',
    'of a run that read something from outside waits for review all the same',
  ],
  'S4-26': ['src/tools/fs/read-text.test.ts', 'shows whole lines up to 50 KB'],
  'S4-27': ['src/serve/book/create-event-feed.test.ts', 'tells calls as they happen, fit to be seen'],
  'S4-28': ['src/config/load-config.test.ts', 'loadConfig'],
}

/** What the issues so far ask for: `S0-1`, or a range `S0-4..7`. */
const ASKED = [...['S0-1..56'], ...['S1-1..22'], ...['S2-1..20'], ...['S3-1..19'], ...['S4-1..28']].flatMap(expand)

describe('requirements', () => {
  it('that the issues ask for each have a test', () => {
    expect(ASKED.filter((number) => !Object.hasOwn(SHOWN, number))).toEqual([])
  })

  for (const [number, [file, test]] of Object.entries(SHOWN)) {
    it(`${number} is shown by a test that exists`, () => {
      // The first argument of `it`, `describe`, or of what their `each` gives back.
      const names = [...readFileSync(file, 'utf8').matchAll(/\(\s*(['`"])(.*?)\1,/gs)].map((match) => match[2]!)
      expect(names.filter((name) => name.includes(test))).not.toEqual([])
    })
  }
})

function expand(range: string): string[] {
  const [, source, first, last = first] = /^(S\d)-(\d+)(?:\.\.(\d+))?$/.exec(range)!
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${source}-${Number(first) + index}`)
}
