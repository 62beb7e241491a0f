import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DoctorFinding } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { UsageError } from '../exit.ts'
import { type AgentProgram, agentPrograms } from './agent-programs.ts'
import { editJson, parseEditedJson, serversIn } from './edit-servers.ts'
import { type FileEdit, planEdit } from './file-edit.ts'

/** The change of the program's settings that switches off its own tools for files and commands. Other keys stay. */
export function planExclusive({ name, permissions, switchOff }: AgentProgram, isForAll: boolean): FileEdit {
  if (permissions === undefined)
    throw new UsageError(`tool-hub cannot switch off the own tools of ${name}.`, `Leave --exclusive out. ${switchOff}`)
  const file = isForAll ? permissions.user : resolve(permissions.project[0]!)
  const change = (before: string) => {
    const denied = deniedIn(file, before)
    const added = permissions.ownTools.filter((tool) => !denied.includes(tool))
    return added.length === 0 ? before : editJson(before, ['permissions', 'deny'], [...denied, ...added])
  }
  return planEdit(file, change, isForAll ? {} : { within: process.cwd() })
}

/** What `permissions.deny` holds. Throws if it cannot be added to. */
function deniedIn(file: string, text: string): readonly unknown[] {
  const { permissions = {} } = parseEditedJson(file, text) as { readonly permissions?: unknown }
  const deny = isPlainObject(permissions) ? (permissions.deny ?? []) : undefined
  if (Array.isArray(deny)) return deny
  throw new UsageError(
    `permissions.deny in ${file} is not a list.`,
    'It has the form { "permissions": { "deny": ["Bash"] } }. Correct the file first; nothing was changed.',
  )
}

/** Whether the own tools of the programs that use tool-hub in this folder are off, where their settings say it. */
export function examineOwnTools(programs: readonly AgentProgram[] = agentPrograms()): DoctorFinding[] {
  return programs.flatMap((program): DoctorFinding[] => {
    const { title, permissions, project, user, key, switchOff } = program
    if (permissions === undefined) return []
    const isUsed = [project, user].some((file) => file !== undefined && startsToolHub(resolve(file), key))
    if (!isUsed) return []
    const denied = new Set([...permissions.project, permissions.user].flatMap((file) => deniedBy(resolve(file))))
    const open = permissions.ownTools.filter((tool) => !denied.has(tool))
    if (open.length === 0)
      return [{ state: 'good', what: 'agent', detail: `the own tools of ${title} for files and commands are off` }]
    const detail = `built-in tools of ${title} are on and bypass tool-hub: ${open.join(', ')}`
    return [{ state: 'weak', what: 'agent', detail, fix: switchOff }]
  })
}

/** Settings that cannot be read deny nothing. */
function deniedBy(file: string): readonly unknown[] {
  try {
    return existsSync(file) ? deniedIn(file, readFileSync(file, 'utf8')) : []
  } catch {
    return []
  }
}

function startsToolHub(file: string, key: string): boolean {
  try {
    return existsSync(file) && Object.values(serversIn(file, readFileSync(file, 'utf8'), key)).some(isOwnEntry)
  } catch {
    // The program that owns the file reports what is wrong with it.
    return false
  }
}

/** As `mcp install` writes it, or as somebody writes it by hand. */
function isOwnEntry(entry: unknown): boolean {
  if (!isPlainObject(entry)) return false
  const words = [entry.command, ...(Array.isArray(entry.args) ? entry.args : [])].map(String)
  return words.includes('mcp') && words.some((word) => /tool-hub|cli\/main\.[jt]s$/.test(word))
}
