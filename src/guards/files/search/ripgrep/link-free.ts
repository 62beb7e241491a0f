import { closeSync, constants } from 'node:fs'
import { openAt, openFolder, statAt } from '../../at-descriptor.ts'
import type { Target } from '../../open-roots.ts'
import { inParent } from '../../walk.ts'

const READ = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Reaches files without going through any link. ripgrep walks by names, and another process may swap a folder for a
 * link meanwhile: what it names is looked at again from here.
 */
export class LinkFree {
  // Files come folder by folder: the last folder is most often the next one.
  private path: string | undefined
  private descriptor: number | undefined

  /** Opens a file to read it; undefined when it is not there or behind a link. */
  open(target: Target): number | undefined {
    return this.at(target, (parent, name) => openAt(parent, name, READ))
  }

  /** Whether it is a regular file and no link is in the way to it. */
  isFile(target: Target): boolean {
    return this.at(target, (parent, name) => statAt(parent, name)?.isFile()) ?? false
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
    this.path = undefined
  }

  private at<T>(target: Target, use: (parent: number, name: string) => T): T | undefined {
    try {
      const parent = this.parentOf(target)
      return parent === undefined ? undefined : use(parent, target.names.at(-1)!)
    } catch {
      // Gone, a link by now, or not ours to read: in any case nothing to give out.
      return undefined
    }
  }

  private parentOf(target: Target): number | undefined {
    const path = target.path.slice(0, target.path.lastIndexOf('/'))
    if (path === this.path) return this.descriptor
    this.close()
    const opened = inParent(target, (parent) => openFolder(parent, '.'))
    if (typeof opened !== 'number') return undefined
    this.path = path
    this.descriptor = opened
    return opened
  }
}
