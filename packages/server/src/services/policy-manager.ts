import path from 'node:path'
import { type CheckedConfig, checkConfig, toPolicyRules, toRules } from '@tool-hub/config'
import { type ConfigDocument, configError, lazyModule, type SourcedRule, type Store, ToolError } from '@tool-hub/core'
import { parseYaml } from '@tool-hub/core/document'
import { escapeLine, escapeText, sha256 } from '@tool-hub/core/lib'
import type {
  explainRequest,
  PolicyExplanation,
  PolicyRule,
  PolicyState,
  PolicyTestReport,
  policySave,
  policyTestRequest,
  ShadowReportEntry,
} from '@tool-hub/core/protocol'
import { compilePolicy, describeRule, describeSource, effectOf, type PolicyWarning } from '@tool-hub/policy'
import type { Hub, RunIndexer, ShadowReport } from '@tool-hub/runtime/hub'
import type { z } from 'zod'
import type { Caller } from '../auth/caller.ts'
import { adoptRules, type FileRules, type RuleHolder } from '../config-reload.ts'
import type { EventHub } from './event-hub.ts'
import { type PolicyFile, readPolicyFile, readPolicyPart, replacePolicyPart, writePolicyFile } from './policy-file.ts'
import { SharedTurns } from './shared-turns.ts'
import { SuggestionSearch } from './suggestion-search.ts'
import { type Judge, testRules } from './test-rules.ts'

const loadYaml = lazyModule(() => import('yaml'))

/** Options of `createPolicyManager`. */
export interface PolicyManagerOptions {
  readonly hub: RuleHolder & Pick<Hub, 'check' | 'explain' | 'cards' | 'shadowReport'>
  readonly store: Pick<Store, 'calls'>
  readonly runsFolder: string
  readonly indexer: Pick<RunIndexer, 'flush'>
  readonly events: Pick<EventHub, 'publish'>
  /** Absolute path of the config file of the hub, if there is one. */
  readonly configFile?: string
  /** Why rules cannot be saved here. Default: they can. */
  readonly readOnly?: string
  /** Problems of the current config file. */
  readonly warnings?: () => readonly PolicyWarning[]
  /** Folder that file names in rules and messages are relative to. Default: the working folder. */
  readonly cwd?: string
}

/** The owner's rules: shows, explains, tests and saves them. */
export type PolicyManager = ReturnType<typeof createPolicyManager>

/** Creates the policy manager. */
export function createPolicyManager(options: PolicyManagerOptions) {
  const { hub, store, runsFolder, indexer, events, configFile, warnings = () => [], cwd = process.cwd() } = options
  const { readOnly } = options
  const label = configFile === undefined ? 'rules' : labelOf(configFile, cwd)
  const judge: Judge = (tool, input, asked) => hub.explain(tool, input, asked)
  const tests = new SharedTurns('A test of rules')
  const suggestions = new SuggestionSearch({ hub, runsFolder })
  const whatToEdit = async (): Promise<Editable> => {
    if (readOnly !== undefined) return { readOnly }
    return configFile === undefined ? { readOnly: NO_FILE } : editable(configFile, label)
  }
  /** Changes are made one after the other, because each reads the file that the one before has written. */
  let saving: Promise<unknown> = Promise.resolve()

  const state = async (): Promise<PolicyState> => {
    const { always = [], owner = [], defaults = [] } = hub.policyLayers()
    const shown = [
      ...always.map((rule) => showRule('always', rule)),
      ...owner.map((rule) => showRule('owner', rule)),
      ...defaults.map((rule) => showRule('defaults', rule)),
    ]
    const doubts = [...warnings(), ...hub.check()].map(showWarning)
    return { rules: shown, warnings: doubts, ...(await showFile(await whatToEdit(), configFile && label, owner)) }
  }

  return {
    state,

    async explain(
      caller: Pick<Caller, 'hub'>,
      { tool, input, run }: z.output<typeof explainRequest>,
    ): Promise<PolicyExplanation> {
      const explained = await caller.hub.explain(tool, input, run === undefined ? {} : { run })
      const { effect, rule, source, reason, targets, risks, text, decision, error } = explained
      const fix = error?.fix.hint ?? (effect === 'allow' ? undefined : decision?.fix.hint)
      return {
        tool: escapeLine(explained.tool),
        effect,
        rule: escapeLine(rule),
        source: escapeLine(source),
        reason: escapeLine(reason),
        targets: targets.map(({ capability, value }) => ({ capability, value: escapeLine(value) })),
        ...(risks && { risks: risks.map(escapeLine) }),
        text: escapeText(text),
        ...(fix !== undefined && { fix: escapeLine(fix) }),
      }
    },

    /** Returns where the shadow policy differs from the policy in force; `undefined` without a shadow policy. */
    shadow(): ShadowReportEntry | undefined {
      const report = hub.shadowReport()
      return report && showReport(report)
    },

    /** Returns the latest recorded calls that other rules would have decided differently. */
    test({ yaml, calls }: z.output<typeof policyTestRequest>): Promise<PolicyTestReport> {
      return tests.share(JSON.stringify([calls, yaml]), async () => {
        const owner = await draftedRules(yaml)
        const policy = compilePolicy({ ...hub.policyLayers(), owner })
        await indexer.flush()
        return testRules(calls, { judge, policy, index: store.calls, runsFolder })
      })
    },

    /** Returns rules that approved calls suggest; with `lastMs`, only approvals of this time count. */
    suggest: (wish: Parameters<SuggestionSearch['find']>[0]) => suggestions.find(wish),

    /** Writes the file and applies the rules immediately. Throws CONFLICT if the file has another version by now. */
    save: (wish: SaveWish) => next(() => save(wish)),

    /**
     * Applies the current rules of the config file, and its shadow policy. A change is recorded as made by `file`;
     * returns whether there was one.
     */
    adopt: (found: FileRules) => next(() => adopt(found)),
  }

  function next<T>(change: () => Promise<T>): Promise<T> {
    const changed = saving.then(change)
    // The caller gets the error; the next change is still made.
    saving = changed.catch(() => {})
    return changed
  }

  /** The draft with the rules that other sections of the config contribute. */
  async function draftedRules(yaml: string): Promise<readonly SourcedRule[]> {
    const { rules } = readDraft(yaml, { file: configFile ?? path.join(cwd, 'tool-hub.yaml') })
    const found = configFile === undefined ? undefined : await editable(configFile, label)
    return found && 'file' in found ? [...found.elsewhere, ...rules] : rules
  }

  async function save({ yaml, version, by }: SaveWish): Promise<PolicyState> {
    const found = await whatToEdit()
    if ('readOnly' in found) throw new ToolError('CONFIG_INVALID', found.readOnly)
    if (found.file.version !== version) throw changedMeanwhile(label)
    const { part, rules: drafted } = readDraft(yaml, { file: found.file.file })
    compilePolicy({ ...hub.policyLayers(), owner: drafted })
    const text = replacePolicyPart(found.file.text, part, label)
    const { rules, config } = readOwnerRules(text, { file: found.file.file, label })
    if (config.shadow !== found.shadow) throw otherShadow(label)
    compilePolicy({ ...hub.policyLayers(), owner: rules })
    await writePolicyFile(found.file.file, text)
    hub.setPolicy(rules)
    announce()
    await hub.recordChange({ by, change: 'policy-saved', subject: label })
    return state()
  }

  async function adopt(found: FileRules): Promise<boolean> {
    const isChanged = await adoptRules(hub, found, label)
    if (isChanged) announce()
    return isChanged
  }

  function announce(): void {
    suggestions.clear()
    events.publish({ type: 'policy-changed' })
  }
}

/** What to save, over which version, and who does. */
type SaveWish = z.output<typeof policySave> & { readonly by: string }

const NO_FILE = 'No config file: write one with tool-hub init, and start the service again.'

type Editable =
  | {
      readonly file: PolicyFile
      readonly elsewhere: readonly SourcedRule[]
      readonly part: string
      /** The path of the shadow policy, as it is written. */
      readonly shadow: string | undefined
    }
  | { readonly readOnly: string; readonly version?: string }

/** Whether the rules of this config can be edited here; if not, the reason. */
async function editable(configFile: string, label: string): Promise<Editable> {
  const kind = path.extname(configFile)
  if (kind !== '.yaml' && kind !== '.yml')
    return { readOnly: `${label} is no YAML file; its comments and order would be lost. Change it by hand.` }
  try {
    const file = await readPolicyFile(configFile)
    const { rules, config } = readOwnerRules(file.text, { file: configFile, label })
    const { policy, shadow } = config
    if (typeof policy === 'string')
      return { readOnly: `The rules are in ${policy}, which ${label} names. Change them there.`, version: file.version }
    const elsewhere = rules.slice(0, rules.length - (policy?.length ?? 0))
    return { file, elsewhere, part: readPolicyPart(file.text, label), shadow }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return { readOnly: `${error.message} Until it is repaired, nothing can be saved.` }
  }
}

async function showFile(
  found: Editable,
  label: string | undefined,
  owner: readonly SourcedRule[],
): Promise<Pick<PolicyState, 'yaml' | 'file' | 'version' | 'readOnly'>> {
  if ('file' in found) return { yaml: found.part, file: label, version: found.file.version }
  const { stringify } = await loadYaml()
  const yaml = stringify({ policy: owner.map(({ rule }) => rule) }, { lineWidth: 0 })
  const version = ('version' in found && found.version) || sha256(yaml)
  return { yaml, version, readOnly: found.readOnly, ...(label !== undefined && { file: label }) }
}

function showRule(layer: PolicyRule['layer'], sourced: SourcedRule): PolicyRule {
  const { rule } = sourced
  const source = describeSource(sourced.source)
  const text = describeRule(sourced).slice(0, -` (${source})`.length)
  const reason = rule.reason === undefined ? {} : { reason: escapeLine(rule.reason) }
  return { layer, effect: effectOf(rule), text: escapeLine(text), source: escapeLine(source), ...reason }
}

/** Tools, targets and rules may hold text from anywhere. */
function showReport({ differences, ...report }: ShadowReport): ShadowReportEntry {
  const shown = differences.map(({ tool, examples, ...difference }) => ({
    ...difference,
    tool: escapeLine(tool),
    examples: examples.map(({ rule, shadowRule, target, ...example }) => ({
      ...example,
      rule: escapeLine(rule),
      shadowRule: escapeLine(shadowRule),
      ...(target !== undefined && { target: escapeLine(target) }),
    })),
  }))
  return { ...report, differences: shown }
}

function showWarning({
  level,
  message,
  source,
  hint,
}: ReturnType<Hub['check']>[number]): PolicyState['warnings'][number] {
  const advice = hint === undefined ? {} : { hint: escapeLine(hint) }
  return { level, message: escapeLine(message), source: escapeLine(source), ...advice }
}

/** Relative to the working folder if the file is inside it. */
function labelOf(file: string, cwd: string): string {
  const relative = path.relative(cwd, file)
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative
}

function changedMeanwhile(label: string): ToolError {
  return new ToolError('CONFLICT', `${label} was changed since these rules were loaded.`, {
    hint: 'Load the rules again, and make the change in what is there now.',
  })
}

/** The file of a shadow policy is protected and watched from the start of the service, so it is named in the file. */
function otherShadow(label: string): ToolError {
  return new ToolError('CONFIG_INVALID', `These rules change policy.shadow of ${label}, which is not done here.`, {
    hint: `Keep shadow: as it is, and the rules below rules:. To change it, edit ${label} and restart the service.`,
  })
}

/** Name of the draft in messages. */
const LABEL = 'rules'

/** Rules that were typed by a person. */
interface Draft {
  readonly rules: readonly SourcedRule[]
  /** As a section of a config, with its key. */
  readonly part: string
}

/** Parses typed rules: a list, or the `policy:` section of a config. Errors have line numbers. */
function readDraft(yaml: string, { file }: { readonly file: string }): Draft {
  const { value, locate } = parseYaml(yaml, LABEL)
  const isList = Array.isArray(value)
  const part = isList ? `policy:\n${yaml}` : yaml
  const document: ConfigDocument = {
    file,
    label: LABEL,
    value: isList ? { policy: value } : (value ?? { policy: [] }),
    locate: (keys, at) => locate(isList ? keys.slice(1) : keys, at),
  }
  refuseOthers(document)
  return { rules: rulesIn(document, checkConfig(document)), part: value === null ? 'policy: []\n' : part }
}

/** Parses the owner's rules in the text of a config. */
function readOwnerRules(text: string, { file, label }: { readonly file: string; readonly label: string }) {
  const document = { file, label, ...parseYaml(text, label) }
  const config = checkConfig(document)
  return { rules: rulesIn(document, config), config }
}

function rulesIn(document: ConfigDocument, { policy, policyTools }: CheckedConfig): SourcedRule[] {
  const byTool = policyTools ? toPolicyRules(document, policyTools) : []
  return [...byTool, ...toRules(document, typeof policy === 'string' ? [] : (policy ?? []))]
}

function refuseOthers({ value, locate }: ConfigDocument): void {
  const isMapping = typeof value === 'object' && value !== null
  const others = isMapping ? Object.keys(value).filter((key) => key !== 'policy') : []
  const policy = isMapping ? (value as { readonly policy?: unknown }).policy : undefined
  const isNamed = typeof policy === 'string' || typeof (Object(policy) as { rules?: unknown }).rules === 'string'
  if (isMapping && others.length === 0 && !isNamed) return
  const hint = 'Write a list of rules, such as - { allow: "read:fs" }, or that list below policy:.'
  const problem = isNamed
    ? { path: ['policy'], position: locate(['policy']), message: 'names a file; here the rules themselves are needed.' }
    : others.length === 0
      ? { message: 'is not a list of rules.' }
      : { path: [others[0]!], position: locate([others[0]!], 'key'), message: 'is not part of the rules.' }
  throw configError(LABEL, [problem], { hint })
}
