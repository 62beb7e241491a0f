import { randomBytes } from 'node:crypto'

const DRAFT_NAME = /^\.tool-hub-[0-9a-f]{24}\.tmp$/

/** A free name for something that is not finished, or that is about to go. */
export function newDraftName(): string {
  return `.tool-hub-${randomBytes(12).toString('hex')}.tmp`
}

/** Whether a name can only have been given by `draftName`. */
export function isDraftName(name: string): boolean {
  return DRAFT_NAME.test(name)
}
