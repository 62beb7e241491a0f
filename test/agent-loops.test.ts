import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type VerifyReport, verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'
import { AGENT_SCRIPT } from './support/agent-script.ts'
import { type AgentWorld, agentWorld } from './support/agent-world.ts'
import type { Conversation } from './support/conversation.ts'
import { driveAiSdk } from './support/drive-ai-sdk.ts'
import { driveLangChain } from './support/drive-lang-chain.ts'
import { driveMcp } from './support/drive-mcp.ts'
import { eventsOf } from './support/events-of.ts'
import { storyOf, type ToldCall } from './support/story-of.ts'

const LOOPS = { 'the AI SDK': driveAiSdk, LangChain: driveLangChain, MCP: driveMcp }
type Loop = keyof typeof LOOPS
const NAMES = Object.keys(LOOPS) as Loop[]
const OTHERS = NAMES.slice(1)

interface Outcome extends Conversation {
  readonly root: string
  /** The calls of each turn, in an order that does not depend on which of them ended first. */
  readonly story: readonly (readonly ToldCall[])[]
  readonly files: Readonly<Record<string, string>>
  readonly audit: VerifyReport
}

describe('twenty turns of a scripted model', () => {
  const worlds: AgentWorld[] = []
  const outcomes = {} as Record<Loop, Outcome>
  beforeAll(() =>
    Promise.all(
      NAMES.map(async (name) => {
        const world = agentWorld()
        worlds.push(world)
        outcomes[name] = await play(world, LOOPS[name])
      }),
    ),
  )
  afterAll(() => Promise.all(worlds.map((world) => world.close())))

  it.each(NAMES)('end as the script says over %s, each call with one end on record', (name) => {
    const { said, heard, story } = outcomes[name]
    expect(AGENT_SCRIPT).toHaveLength(20)
    expect(said).toBe(AGENT_SCRIPT.at(-1)!.says)
    const wanted = AGENT_SCRIPT.map(({ calls }) => calls.map((call) => `${call.name} ${call.ends}`).sort())
    const ended = story.map((calls) =>
      calls.map(({ facts: { wire, tool, error } }) => `${wire ?? tool} ${error?.code ?? 'ok'}`).sort(),
    )
    expect(ended).toEqual(wanted)
    const isError = AGENT_SCRIPT.flatMap(({ calls }) => calls.map(({ ends }) => ends !== 'ok'))
    expect(heard.flat().map((each) => each.isError)).toEqual(isError)
  })

  it.each(NAMES)('are on record over %s by the name of the loop, in a chain that holds', (name) => {
    const { audit } = outcomes[name]
    expect(audit).toMatchObject({ ok: true, interrupted: 0, problems: [], remarks: [] })
    const calls = allCalls(outcomes[name])
    expect(calls).toHaveLength(audit.calls)
    expect(new Set(calls.map(({ facts }) => facts.caller))).toEqual(new Set(['<caller>']))
  })

  it.each(OTHERS)('tell the audit the same story over %s as over the AI SDK', (name) => {
    expect(outcomes[name].story).toEqual(outcomes['the AI SDK'].story)
  })

  it('tell the audit who was asked, what was refused, kept aside, changed, and done inside', () => {
    const told = (wanted: string) => allCalls(outcomes['the AI SDK']).filter(({ facts }) => facts.tool === wanted)
    expect(told('core/fs.deletePath')).toMatchObject([
      {
        facts: { effect: 'ask', status: 'ok', approvedBy: 'owner', evidence: ['file:old.txt'] },
        happened: [
          { type: 'approval-requested', reason: 'a person looks first' },
          { type: 'approval-answered', decision: 'allow', by: 'owner' },
          { type: 'file-changing', op: 'remove', path: '<root>/old.txt' },
        ],
      },
      {
        facts: { effect: 'ask', status: 'denied', error: { code: 'APPROVAL_DENIED' } },
        happened: [{ type: 'approval-requested' }, { type: 'approval-answered', decision: 'deny', by: 'owner' }],
      },
    ])
    expect(told('remove_everything')).toMatchObject([{ facts: { status: 'error', error: { code: 'TOOL_NOT_FOUND' } } }])
    expect(told('log.show')[0]!.facts.artifacts).toEqual([expect.stringMatching(/^artifact:[0-9a-f]{64}$/)])
    const rule = 'deny write:fs on **/locked/** (policy[0])'
    expect(told('project.check')).toMatchObject([
      {
        facts: { status: 'ok' },
        calls: [
          { facts: { tool: 'core/fs.sha256', status: 'ok' } },
          { facts: { tool: 'core/util.hash.sha256Text', status: 'ok' } },
          { facts: { tool: 'core/fs.writeText', effect: 'deny', rule, status: 'denied' } },
        ],
      },
    ])
    expect(told('time.wait')).toMatchObject([{ facts: { status: 'timeout' } }])
  })

  it.each(OTHERS)('tell the model the same over %s as over the AI SDK', (name) => {
    expect(hearings(outcomes[name])).toEqual(hearings(outcomes['the AI SDK']))
  })

  it.each(OTHERS)('leave the same files over %s as over the AI SDK', (name) => {
    expect(outcomes[name].files).toEqual(outcomes['the AI SDK'].files)
    expect(outcomes[name].files).toEqual({
      'README.md': '# Greeter\n\nMended.\n',
      'keep.txt': expect.any(String),
      'locked/key.txt': 'the key\n',
      'notes/one.md': '# one\n',
      'plans/two.md': '# two\n',
      'src/app.js': expect.stringContaining("greeting = 'hello'"),
      'src/util.js': expect.any(String),
    })
  })
})

async function play(world: AgentWorld, drive: (typeof LOOPS)[Loop]): Promise<Outcome> {
  const { hub, root } = world
  const conversation = await drive(hub, AGENT_SCRIPT)
  const { run, caller } = conversation
  await hub.endRun(run)
  const story = storyOf(await eventsOf(hub, run), { [root]: '<root>', [`"caller":"${caller}"`]: '"caller":"<caller>"' })
  const audit = await verifyRun(join(hub.folder, 'runs', run))
  return { ...conversation, root, story: byTurn(story), files: world.files(), audit }
}

/** What the model received of each call; each loop reports a tool that does not exist in its own words. */
function hearings({ heard, root }: Outcome): string[] {
  const ends = AGENT_SCRIPT.flatMap(({ calls }) => calls.map((call) => call.ends))
  const texts = heard.flat().map(({ text }) => text.replaceAll(root, '<root>').replace(/\(call [^)]+\)/, '<call>'))
  return texts.map((text, index) => {
    if (ends[index] === 'TOOL_NOT_FOUND') return 'TOOL_NOT_FOUND'
    // Where a failure has data, MCP adds what to do.
    return text.replace('ended with 2. Read the output.', 'ended with 2.')
  })
}

function byTurn(story: readonly ToldCall[]): ToldCall[][] {
  const rest = [...story]
  const turns = AGENT_SCRIPT.map(({ calls }) => rest.splice(0, calls.length).sort(byText))
  return rest.length > 0 ? [...turns, rest] : turns
}

function byText(one: ToldCall, other: ToldCall): number {
  const [first, second] = [one, other].map(({ facts }) => `${facts.tool} ${JSON.stringify(facts.args)}`)
  return first! < second! ? -1 : 1
}

function allCalls({ story }: Outcome): ToldCall[] {
  const withInner = (call: ToldCall): ToldCall[] => [call, ...call.calls.flatMap(withInner)]
  return story.flat().flatMap(withInner)
}
