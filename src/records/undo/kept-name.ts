import { randomBytes } from 'node:crypto'

const FILE = /^[0-9a-f]{64}$/
const DRAFT = /^[0-9a-f]{64}\.[0-9a-f]{12}$/
const TREE = /^tree-(\d{1,15})-[0-9a-f]{16}$/

/** A free name for a removed tree below `undo/`; its size is part of it, so that nobody has to measure the tree again. */
export function treeName(bytes: number): string {
  return `tree-${bytes}-${randomBytes(8).toString('hex')}`
}

/** The size that the name of a kept tree tells; undefined when it is no such name. */
export function treeBytes(name: string): number | undefined {
  const match = TREE.exec(name)
  return match ? Number(match[1]) : undefined
}

/** Whether a kept file has this name: the SHA-256 of its content. */
export function isFileName(name: string): boolean {
  return FILE.test(name)
}

/** A free name beside a file that is about to be kept. */
export function keptDraftName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}`
}

/** Whether a file was on its way to be kept. */
export function isDraft(name: string): boolean {
  return DRAFT.test(name)
}
