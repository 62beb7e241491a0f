import { type Stats, statSync } from 'node:fs'
import type { JailSpec } from './jail.ts'
import type { JailOwner } from './jail-owner.ts'

/** Says whose the files are that commands make, where that is not the hub's user, and which roots they cannot write to. */
export function ownershipNotes(spec: Pick<JailSpec, 'roots'>, owner: JailOwner): string[] {
  const notes: string[] = []
  const hub = process.geteuid?.() ?? owner.uid
  if (owner.isOther)
    notes.push(
      `Commands run as user ${owner.uid}, the owner of the workspace, not as ${hub}: files they make are that user's.`,
    )
  if (owner.uid === 0)
    notes.push(
      "Commands run as root without its capabilities, since the workspace is root's or out of reach for others. Give it to another user (chown -R) to have them run as that user.",
    )
  for (const { path, mode } of spec.roots) {
    const found = mode === 'write' ? statSync(path, { throwIfNoEntry: false }) : undefined
    if (!found || found.uid === owner.uid) continue
    notes.push(
      canWrite(found, owner)
        ? `${path} belongs to user ${found.uid}; commands run as user ${owner.uid}, and files they make there are that user's.`
        : `${path} belongs to user ${found.uid} and commands run as user ${owner.uid}${owner.uid === 0 ? ' without its rights' : ''}: they cannot write there. Give it to that user (chown -R ${owner.uid}), or run the hub as user ${found.uid}.`,
    )
  }
  return notes
}

function canWrite(found: Stats, { gid }: JailOwner): boolean {
  return (found.mode & (found.gid === gid ? 0o020 : 0o002)) !== 0
}
