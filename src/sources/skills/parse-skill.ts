import { z } from 'zod'
import { parseYaml } from '../../core/document/parse-yaml.ts'
import { configError } from '../../core/document/problem.ts'
import { readAllowedTools } from './allowed-tools.ts'
import { splitFrontmatter } from './split-frontmatter.ts'
import { visibleText } from './visible-text.ts'

/** What a SKILL.md says of itself. */
export interface SkillFacts {
  readonly name: string
  readonly description: string
  readonly license?: string
  readonly compatibility?: string
  /** What it asks for by `allowed-tools`; never a grant. */
  readonly wants: readonly string[]
  /** The same as it is written. */
  readonly wantsAsWritten: string
  /** 1-based line of the file where the text for the model begins. */
  readonly bodyLine: number
}

const text = z.string({ error: ({ input }) => (input === undefined ? 'is missing' : 'is no text') })
const seen = text.transform((text) => visibleText(text).text.replaceAll(/\s+/g, ' ').trim())

/** Keys that other programs add are none of ours. */
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

/** Reads the beginning of a SKILL.md; what is wrong is reported with `label` and line. */
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
