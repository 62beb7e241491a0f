import { type BigIntStats, closeSync, lstatSync, readdirSync } from 'node:fs'
import { fileAccess } from '../access/choose-access.ts'
import { isSameEntry } from '../access/steady-folder.ts'
import { isSameList } from '../at-descriptor.ts'

/**
 * A name as its bytes, one character each: a file system may hold names that are no UTF-8, and those must be found again
 * when a tree is measured, copied or removed.
 */
export type ByteName = string

/** The bytes of a name that is known as text. */
export function toByteName(name: string): ByteName {
  return Buffer.from(name).toString('latin1')
}

/** A name as people read it. */
export function toText(name: ByteName): string {
  return Buffer.from(name, 'latin1').toString()
}

/** One name below an open folder, for a step that `fileAccess` runs. */
export function atName(folder: number, name: ByteName): Buffer {
  return fileAccess.atBytes(folder, name)
}

/** The names in an open folder, sorted by their bytes. */
export function namesIn(folder: number): ByteName[] {
  const path = atName(folder, '.')
  return fileAccess.look(folder, () => readdirSync(path, 'latin1').sort(), isSameList)
}

/** What a name is, never what a link leads to. */
export function statName(folder: number, name: ByteName): BigIntStats {
  const path = atName(folder, name)
  return fileAccess.look(folder, () => lstatSync(path, { bigint: true }), isSameEntry)
}

/** Opens a folder below an open folder; fails on a link. The caller closes it. */
export function openNamed(folder: number, name: ByteName): number {
  return fileAccess.openFolder(folder, atName(folder, name))
}

/** Runs work in a folder below an open one. */
export async function inNamed<T>(folder: number, name: ByteName, work: (inner: number) => Promise<T>): Promise<T> {
  const inner = openNamed(folder, name)
  try {
    return await work(inner)
  } finally {
    closeSync(inner)
  }
}
