import { type Capability, configError } from '@tool-hub/core'
import { parseYaml } from '@tool-hub/core/document'
import { escapeLine, visibleText } from '@tool-hub/core/lib'
import { z } from 'zod'

/** How many bytes of a SKILL.md are read for its frontmatter, which must end within them. */
export const HEAD_BYTES = 65_536

/** The frontmatter of a SKILL.md. */
export interface SkillFacts {
  /** The name by which it is loaded. */
  readonly name: string
  /** When the skill helps, for the model. */
  readonly description: string
  /** The license, as the author writes it. */
  readonly license?: string
  /** What the skill needs, as the author writes it. */
  readonly compatibility?: string
  /** What it requests by `allowed-tools`; never a grant. */
  readonly wants: readonly string[]
  /** `allowed-tools` as it is written. */
  readonly wantsAsWritten: string
  /** 1-based line where the text for the model begins. */
  readonly bodyLine: number
}

const text = z.string({ error: ({ input }) => (input === undefined ? 'is missing' : 'is not a text') })
const seen = text.transform((text) => visibleText(text).text.replaceAll(/\s+/g, ' ').trim())

/** Additional keys of other programs are ignored. */
const frontmatter = z.object({
  name: text
    .max(64, 'at most 64 characters')
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'lowercase letters and digits, in parts joined by one hyphen'),
  description: seen.pipe(z.string().min(1, 'is empty').max(1_024, 'at most 1,024 characters')),
  license: seen.pipe(z.string().max(500)).optional(),
  compatibility: seen.pipe(z.string().max(500)).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  'allowed-tools': z.union([z.string().max(10_000), z.array(z.string().max(1_000)).max(1_000)]).optional(),
})

/** Parses the beginning of a SKILL.md. Throws CONFIG_INVALID with `label` and line. */
export function parseSkill(head: string, label: string): SkillFacts {
  const { yaml, bodyLine } = splitFrontmatter(head, label)
  const { value, locate } = parseYaml(yaml, label)
  const parsed = frontmatter.safeParse(value)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => {
      const keys = path.filter((key) => typeof key !== 'symbol')
      return { path: keys, position: locate(keys) ?? { line: 1, column: 1 }, message }
    })
    throw configError(label, problems, { hint: 'A SKILL.md begins with ---, name:, description: and ---.' })
  }
  const { 'allowed-tools': allowed = [], metadata, ...facts } = parsed.data
  const { wants, asWritten } = readAllowedTools(allowed)
  return { ...facts, wants, wantsAsWritten: asWritten, bodyLine }
}

/** The YAML between the first two `---` lines, with line numbers as in the file, and the line after it. */
function splitFrontmatter(text: string, label: string): { readonly yaml: string; readonly bodyLine: number } {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  if (lines[0]?.trimEnd() !== '---') throw broken(label, 1, 'it does not begin with a line of ---.')
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  if (end === -1) throw broken(label, 1, `its frontmatter does not end: no second line of --- in ${HEAD_BYTES} bytes.`)
  return { yaml: ['', ...lines.slice(1, end)].join('\n'), bodyLine: end + 2 }
}

function broken(label: string, line: number, message: string) {
  return configError(label, [{ position: { line, column: 1 }, message }], {
    hint: 'A SKILL.md begins with ---, name:, description: and ---.',
  })
}

const MAX_REQUESTS = 100
const MAX_CHARS = 100

/** Tool names of other programs, by the capability they need here. */
const FOREIGN: ReadonlyMap<string, Capability> = new Map([
  ...(['Bash', 'BashOutput', 'KillShell'] as const).map((name) => [name, 'exec'] as const),
  ...(['Read', 'Grep', 'Glob', 'LS', 'NotebookRead'] as const).map((name) => [name, 'read:fs'] as const),
  ...(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'] as const).map((name) => [name, 'write:fs'] as const),
  ...(['WebFetch', 'WebSearch'] as const).map((name) => [name, 'network'] as const),
])

/** Reads `allowed-tools` of a skill: converted to names of this project where possible, otherwise as written. */
function readAllowedTools(written: string | readonly string[]): {
  readonly wants: readonly string[]
  readonly asWritten: string
} {
  const wishes = (typeof written === 'string' ? splitWishes(written) : written)
    .map((wish) => shown(wish.trim()))
    .filter((wish) => wish !== '')
    .slice(0, MAX_REQUESTS)
  return { wants: [...new Set(wishes.map(inOurWords))], asWritten: wishes.join(' ') }
}

/** `Bash(git:*)` is one entry, whatever its parentheses contain. */
function splitWishes(text: string): string[] {
  return text.match(/[^\s,()]+(?:\([^()]*\))?/g) ?? []
}

function inOurWords(wish: string): string {
  const name = wish.split('(', 1)[0]!
  const [prefix, server, tool] = name.split('__')
  if (prefix === 'mcp' && server && tool) return `mcp/${server}.${tool}`
  return FOREIGN.get(name) ?? wish
}

/** An approver reads it. */
function shown(text: string): string {
  return escapeLine(text).slice(0, MAX_CHARS)
}
