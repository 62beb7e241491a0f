import { type SkillTool, skillRoots } from '@tool-hub/adapters/sources/skills'
import { connectMachines } from '@tool-hub/cluster'
import {
  type AnyTool,
  type FeatureDefinition,
  type FeatureName,
  type HubOptions,
  lazyModule,
  type ToolAdjustment,
} from '@tool-hub/core'
import { createHub, type Hub, lazySource, turnedOffSource } from '@tool-hub/runtime/hub'
import { type BuiltinTool, builtinTools } from './builtin-tools.ts'
import { coreForms } from './core-forms.ts'
import { features } from './generated/list/index.ts'
import { featureStores } from './generated/stores/index.ts'

const loadMcpSource = lazyModule(() => import('@tool-hub/mcp'))
const loadSkillSource = lazyModule(() => import('@tool-hub/adapters/sources/skills'))

export type { BuiltinTool } from './builtin-tools.ts'

/**
 * Makes a hub: the built-in tools and yours, under one policy, on one record.
 * @example
 * const hub = createToolHub({ tools: [saveNote], policy: [{ allow: 'write:fs', on: './notes/**' }] })
 * const result = await hub.call(saveNote, { path: './notes/a.md', text: '# hi' })
 */
export function createToolHub<const T extends readonly AnyTool[] = readonly []>(
  options: HubOptions<T> = {},
): Hub<BuiltinTool | SkillTool | T[number]> {
  const chosen = chosenForms(options)
  const off = new Set(turnedOff(options).flatMap(({ tools }) => tools))
  const tools = builtinTools.filter(({ name }) => !off.has(name)).map((tool) => chosen.get(tool.name)?.(tool) ?? tool)
  const lists = { builtins: tools, features, tables: featureStores, machines: connectMachines }
  return createHub(withSources(options), lists) as Hub<BuiltinTool | SkillTool | T[number]>
}

/** What the options of features change about their tools, by the name of the feature. */
function adjustments(options: HubOptions): readonly (readonly [FeatureName, ToolAdjustment])[] {
  return features.map(({ name, adjustTools }: FeatureDefinition) => [name, adjustTools?.(options[name] ?? {}) ?? {}])
}

/** The tools that features have turned off. */
function turnedOff(options: HubOptions) {
  return adjustments(options).flatMap(([name, { off }]) => (off ? [{ name, ...off }] : []))
}

function builtinsNamed(names: readonly string[]): readonly AnyTool[] {
  return builtinTools.filter(({ name }) => names.includes(name))
}

/** What the owner names by a key of its own is a source like any other. */
function withSources(options: HubOptions): HubOptions {
  const { mcpServers, skills, sources = [], sandbox } = options
  return {
    ...options,
    sources: [
      ...sources,
      ...turnedOff(options).map((off) => turnedOffSource(off.name, builtinsNamed(off.tools), off.why)),
      ...(mcpServers ? [lazySource('mcp', async () => (await loadMcpSource()).createMcpSource(mcpServers))] : []),
      ...(skills?.length
        ? [lazySource('skills', async () => (await loadSkillSource()).createSkillSource(skills))]
        : []),
    ],
    ...(skills?.length && { sandbox: { ...sandbox, roots: [...(sandbox?.roots ?? []), ...skillRoots(skills)] } }),
  }
}

/** The built-in tools that the owner's options give another form. */
function chosenForms(options: HubOptions): ReadonlyMap<string, (tool: AnyTool) => AnyTool> {
  const forms = coreForms(options)
  for (const [, { replaced }] of adjustments(options)) for (const [tool, form] of replaced ?? []) forms.set(tool, form)
  return forms
}
