import { basename } from 'node:path'
import { lazyModule, messageOf, type Sandbox, type SourceHost } from '@tool-hub/core'
import { escapeLine, withStop } from '@tool-hub/core/lib'
import { expandHome, type FoundIn, findInFolders, lookAtFolder, readRegular } from '@tool-hub/sandbox/system'
import type { SkillFacts } from './parse-skill.ts'

const loadParseSkill = lazyModule(() => import('./parse-skill.ts'))

/** A skill that can be loaded. */
export interface Skill extends SkillFacts {
  /** The real path of its folder. */
  readonly folder: string
  /** Its SKILL.md. */
  readonly file: string
}

type Reading = { readonly version: string } & (
  | { readonly skill: Skill; readonly problem?: undefined }
  | { readonly problem: string; readonly skill?: undefined }
)

const MAX_SKILLS = 1_000

/** The skills of some folders. A problem with a skill is reported once to the operator of the hub. */
export class SkillRegistry {
  readonly #host: Pick<SourceHost, 'warn' | 'request'>
  readonly #folders: readonly string[]
  #readings = new Map<string, Reading>()
  #skills: ReadonlyMap<string, Skill> = new Map()
  #reported: ReadonlySet<string> = new Set()
  #scanning: Promise<void> | undefined

  constructor(folders: readonly string[], host: Pick<SourceHost, 'warn' | 'request'>) {
    this.#host = host
    this.#folders = [...new Set(folders.flatMap((folder) => this.#open(folder)))]
  }

  /** Real paths. */
  get folders(): readonly string[] {
    return this.#folders
  }

  /** Finds a skill by its name, among those of the last scan. */
  get(name: string): Skill | undefined {
    return this.#skills.get(name)
  }

  /** The skills of the last scan. */
  list(): readonly Skill[] {
    return [...this.#skills.values()]
  }

  /** Scans the folders again; only a new or changed SKILL.md is read. */
  async scan(): Promise<void> {
    this.#scanning ??= this.#scan().finally(() => {
      this.#scanning = undefined
    })
    await this.#scanning
  }

  /** The sandbox has a root for each folder that existed at the start; a folder created later has none. */
  #open(folder: string): string[] {
    const found = lookAtFolder(expandHome(folder))
    if (!found) {
      // A folder in the home is configured for every machine that may have it.
      if (folder.startsWith('~/')) return []
      this.#host.warn(
        `The skill folder ${escapeLine(folder)} does not exist. Create it and restart to load its skills.`,
      )
      return []
    }
    const { path, distrust } = found
    if (distrust)
      this.#host.warn(
        escapeLine(`The folder of skills ${path} ${distrust.why}: what is read there counts as from outside.`),
      )
    return [path]
  }

  async #scan(): Promise<void> {
    const problems: string[] = []
    const readings = new Map<string, Reading>()
    const skills = new Map<string, Skill>()
    for (const folder of this.#folders) {
      for (const found of await this.#find(folder, problems)) {
        // The same folder reached in two ways is one skill.
        if (readings.has(found.file)) continue
        const reading = await this.#read(found)
        readings.set(found.file, reading)
        if (reading.skill) add(skills, reading.skill, problems)
        else problems.push(reading.problem)
      }
    }
    this.#readings = readings
    this.#skills = new Map([...skills].sort(([a], [b]) => (a < b ? -1 : 1)))
    this.#report(problems)
    for (const skill of this.#skills.values()) requestFor(skill, undefined, this.#host)
  }

  async #find(folder: string, problems: string[]): Promise<readonly FoundIn[]> {
    try {
      const found = await findInFolders(folder, 'SKILL.md')
      return found.filter(({ folder: real, name }) => {
        if (this.#folders.some((root) => real === root || real.startsWith(`${root}/`))) return true
        problems.push(
          `The skill ${folder}/${name} is a link out of the folders of skills; name ${real} as one of them.`,
        )
        return false
      })
    } catch (error) {
      problems.push(`The folder of skills ${folder} cannot be read: ${messageOf(error)}`)
      return []
    }
  }

  async #read({ name, folder, file, version }: FoundIn): Promise<Reading> {
    const known = this.#readings.get(file)
    if (known?.version === version) return known
    try {
      const { parseSkill, HEAD_BYTES } = await loadParseSkill()
      const facts = parseSkill(await readRegular(file, HEAD_BYTES), file)
      if (facts.name !== basename(folder) && facts.name !== name)
        return { version, problem: `${file}:2 its name is ${facts.name}, but its folder is ${basename(folder)}.` }
      return { version, skill: { ...facts, folder, file } }
    } catch (error) {
      return { version, problem: messageOf(error) }
    }
  }

  #report(problems: readonly string[]): void {
    const texts = new Set(problems.map(escapeLine))
    for (const text of texts) if (!this.#reported.has(text)) this.#host.warn(`${withStop(text)} It is left out.`)
    this.#reported = texts
  }
}

/** Records what a skill requests, where approvers and `explain` show it; nothing is granted. */
export function requestFor(
  { name, wants, wantsAsWritten }: SkillFacts,
  run: string | undefined,
  host: Pick<SourceHost, 'request'>,
): void {
  if (wants.length > 0) host.request(run, { skill: name, wants, reason: `allowed-tools: ${wantsAsWritten}` })
}

function add(skills: Map<string, Skill>, skill: Skill, problems: string[]): void {
  const first = skills.get(skill.name)
  if (first) problems.push(`${skill.file}: there is a skill ${skill.name} in ${first.folder} already.`)
  else if (skills.size >= MAX_SKILLS) problems.push(`${skill.file} is one more than ${MAX_SKILLS} skills.`)
  else skills.set(skill.name, skill)
}

/**
 * The sandbox roots through which tools read skills and commands run their scripts; read-only. A folder that another
 * user can write to counts as untrusted. A folder that does not exist is left out.
 */
export function skillRoots(folders: readonly string[]): NonNullable<Sandbox['roots']> {
  return folders.flatMap((folder) => {
    const path = expandHome(folder)
    const found = lookAtFolder(path)
    return found ? [{ path, mode: 'read' as const, ...(found.distrust && { untrusted: true }) }] : []
  })
}
